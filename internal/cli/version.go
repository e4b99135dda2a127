package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/internal/render"
)

// Version is the release.
const Version = "0.1.0"

func newVersion(s *IOStreams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  maxArgs(0),
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(s.Out, versionLine())
			return err
		},
	}
}

// versionLine is what is known of the program, in a line.
func versionLine() string {
	revision := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, kv := range info.Settings {
			if kv.Key == "vcs.revision" {
				revision = kv.Value
			}
		}
	}
	return fmt.Sprintf("iwdissect %s (revision %s, %s, %s/%s, schema %s)\n",
		Version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH, render.Schema)
}
