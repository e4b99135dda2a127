package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/sandbox"
)

// Version is the release.
const Version = "0.1.0"

func newVersion(s *IOStreams) *cobra.Command {
	confines := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  maxArgs(0),
		RunE: func(*cobra.Command, []string) error {
			line := versionLine()
			if confines {
				line += fmt.Sprintf("sandbox: %s\n", sandbox.Supported())
			}
			_, err := io.WriteString(s.Out, line)
			return err
		},
	}
	cmd.Flags().BoolVar(&confines, "sandbox", false, "print what keeps commands that read captures from everything else")
	return cmd
}

// versionLine is what is known of the program, in a line.
func versionLine() string {
	return fmt.Sprintf("iwdissect %s (%s, %s, %s/%s, schema %s)\n",
		Version, buildOf(), runtime.Version(), runtime.GOOS, runtime.GOARCH, render.Schema)
}

// buildOf says what this program was built from.
func buildOf() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return builtFrom(info)
	}
	return "revision unknown"
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
