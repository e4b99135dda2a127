package cli

import (
	"fmt"
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
			revision := "unknown"
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, kv := range info.Settings {
					if kv.Key == "vcs.revision" {
						revision = kv.Value
					}
				}
			}
			_, err := fmt.Fprintf(s.Out, "iwdissect %s (revision %s, %s, %s/%s, schema %s)\n",
				Version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH, render.Schema)
			return err
		},
	}
}
