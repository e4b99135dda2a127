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
	from := "revision unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		from = builtFrom(info)
	}
	return fmt.Sprintf("iwdissect %s (%s, %s, %s/%s, schema %s)\n",
		Version, from, runtime.Version(), runtime.GOOS, runtime.GOARCH, render.Schema)
}

// builtFrom says what the program was built from: a commit, or a module that go install fetched.
func builtFrom(info *debug.BuildInfo) string {
	for _, kv := range info.Settings {
		if kv.Key == "vcs.revision" {
			return "revision " + kv.Value
		}
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return "module " + v
	}
	return "revision unknown"
}
