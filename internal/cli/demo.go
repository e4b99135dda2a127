package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// demoScenario is what the demonstration shows, demoRule the rule that it breaks.
const (
	demoScenario = "demo"
	demoRule     = "DDP-STAG-02"
)

func newDemo(s *IOStreams) *cobra.Command {
	folder := ""
	cmd := &cobra.Command{
		Use:   "demo [-o FOLDER]",
		Short: "Show in a minute what this program does, with a broken trace",
		Long: strings.TrimSpace(`
Make a trace in which something goes wrong, check it, explain the rule that was broken,
say what happened, and write a report of it. Each command is printed before it runs, as
you could type it. No privileges are needed. The trace and the page stay in FOLDER:
trace.pcapng and report.html, of which none may be there before.`),
		Example: strings.Trim(`
  iwdissect demo
  iwdissect demo -o /tmp/demo
`, "\n"),
		Args: maxArgs(0),
		RunE: func(*cobra.Command, []string) error { return demonstrate(s, folder) },
	}
	cmd.Flags().StringVarP(&folder, "output", "o", "iwdissect-demo", "put the files into `FOLDER`")
	s.offer(cmd, "output", fixed(nil, cobra.ShellCompDirectiveFilterDirs))
	return cmd
}

// demoStep is a command of the demonstration.
type demoStep struct {
	says string
	args []string
	// exits is the code that it ends with.
	exits int
}

// demoFiles are the files of the demonstration.
func demoFiles(folder string) (trace, page string) {
	return filepath.Join(folder, "trace.pcapng"), filepath.Join(folder, "report.html")
}

// demoSteps are the commands, with the files in a folder.
func demoSteps(folder string) []demoStep {
	trace, page := demoFiles(folder)
	return []demoStep{
		{"Make a trace with a fault.", []string{"generate", demoScenario, "-o", trace}, exitOK},
		{"Is it conformant? Exit code 1 says that it is not.", []string{"check", "--fail-on", "warning", trace}, exitFindings},
		{"What does the rule say?", []string{"explain", demoRule}, exitOK},
		{"What went wrong, in sentences?", []string{"analyze", "--brief", trace}, exitOK},
		{"Who said what on the connection that failed?", []string{"follow", "--conn", "2", trace}, exitOK},
		{"All of it on a page to look at and to mail.", []string{"report", trace, "-o", page}, exitOK},
	}
}

// demonstrate runs the commands one after the other.
func demonstrate(s *IOStreams, folder string) error {
	trace, page := demoFiles(folder)
	for _, name := range []string{trace, page} { // which the user did not name, and so not to be replaced
		if _, err := os.Lstat(name); err == nil {
			return usagef("%s is there already, and is not overwritten: move it away, or put the files into another folder with -o", name)
		}
	}
	if err := outfile.MakeFolder(folder); err != nil {
		return err
	}
	for i, step := range demoSteps(folder) {
		if i > 0 {
			fmt.Fprintln(s.Out)
		}
		if _, err := fmt.Fprintf(s.Out, "# %s\n$ iwdissect %s\n", step.says, visible.Text(typed(step.args))); err != nil {
			return brokenPipe(err)
		}
		own := *s
		// What a command gives up to read a capture, the next one would lack. This one was just made
		// here.
		own.alone = false
		args := step.args
		if s.OutTTY && step.args[0] != "generate" && step.args[0] != "report" {
			args = append([]string{args[0], "--no-pager"}, args[1:]...)
		}
		if code := Run(&own, args); code != step.exits {
			return fmt.Errorf("iwdissect %s ended with %d instead of %d", typed(step.args), code, step.exits)
		}
	}
	_, err := fmt.Fprintf(s.Out, "\nOpen %s in a browser.\n", visible.Text(page))
	return brokenPipe(err)
}

// typed is how a user types some words.
func typed(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if strings.ContainsAny(w, " \t'\"\\$&|;<>()*?[]#~`!") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted[i] = w
	}
	return strings.Join(quoted, " ")
}
