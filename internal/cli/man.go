package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/iwdissect/iwdissect/internal/outfile"
)

// newMan makes the command that writes manual pages.
func newMan(s *IOStreams) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "man [COMMAND]",
		Short: "Write the manual page of a command, or all of them",
		Long: strings.TrimSpace(`
Write the manual page of iwdissect, or of one of its commands, to standard output.
With -o all pages are written to a folder, which must be there; pages of the same
names are written over only if they are manual pages of iwdissect.`),
		Example: strings.Trim(`
  iwdissect man | man -l -
  iwdissect man check | man -l -
  sudo iwdissect man -o /usr/local/share/man/man1
`, "\n"),
		Args:              maxArgs(1),
		ValidArgsFunction: completeCommands,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.DisableAutoGenTag = true
			switch {
			case dir != "" && len(args) > 0:
				return usagef("-o writes the pages of all commands; leave out %q", args[0])
			case dir != "":
				return writePages(root, dir)
			case len(args) == 0:
				return writePage(s.Out, root)
			}
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 || c == root {
				return noCommand(root, args[0])
			}
			return writePage(s.Out, c)
		},
	}
	cmd.Flags().StringVarP(&dir, "output", "o", "", "write all pages to the folder `DIR`")
	_ = cmd.MarkFlagDirname("output") // the flag is there
	return cmd
}

// writePage writes the page of a command. It has no date, so that the same version writes
// the same page.
func writePage(w io.Writer, c *cobra.Command) error {
	var page bytes.Buffer
	date := time.Unix(0, 0)
	header := doc.GenManHeader{Section: "1", Date: &date, Source: "iwdissect " + Version, Manual: "iwdissect"}
	if err := doc.GenMan(c, &header, &page); err != nil {
		return err
	}
	_, err := w.Write(bytes.Replace(page.Bytes(), []byte(`"`+date.Format("Jan 2006")+`"`), []byte(`""`), 1))
	return err
}

// manMark is in each page, so that it is known again.
const manMark = `"iwdissect"`

// writePages writes the page of each command.
func writePages(root *cobra.Command, dir string) error {
	pages := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			pages = append(pages, c)
		}
	}
	for _, c := range pages {
		var page bytes.Buffer
		if err := writePage(&page, c); err != nil {
			return err
		}
		name := filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
		if err := ownPage(name); err != nil {
			return err
		}
		if err := outfile.Write(name, page.Bytes(), nil); err != nil {
			return err
		}
	}
	return nil
}

// ownPage refuses a file that is no manual page of iwdissect.
func ownPage(name string) error {
	old, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	for line := range strings.Lines(string(old)) {
		if strings.HasPrefix(line, ".TH ") {
			if strings.Contains(line, manMark) {
				return nil
			}
			break
		}
	}
	return fmt.Errorf("%s is there and is no manual page of iwdissect: it was left as it is", name)
}

// commandNames are the names of the commands.
func commandNames(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// completeCommands offers the commands.
func completeCommands(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return beginning(word, commandNames(cmd.Root())), cobra.ShellCompDirectiveNoFileComp
}
