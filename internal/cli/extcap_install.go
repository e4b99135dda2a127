package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/internal/extcap"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// extcapOptions are the flags of the command extcap.
type extcapOptions struct {
	s                  *IOStreams
	install, uninstall bool
	folder             string
}

func newExtcap(s *IOStreams) *cobra.Command {
	o := &extcapOptions{s: s}
	cmd := &cobra.Command{
		Use:   "extcap",
		Short: "Let Wireshark and tshark capture with iwdissect, with comments in the packets",
		Long: strings.TrimSpace(`
Wireshark and tshark can capture with other programs: they look for them in a folder,
ask each for its interfaces, and read the packets that it writes. --install puts a link to
iwdissect into that folder. From then on they list 'iwdissect: eth0' and so on beside the
interfaces of the system: packets have our annotations and findings as comments, while
they are captured. 'iwdissect: capture file' does the same for a file, on all systems.

The folder is the one that 'tshark -G folders' names: that of the user, or, before
Wireshark 4.2, that of all users, where only root may write. Without Wireshark it is the
usual folder of the user. No other file is ever replaced or removed. Without a flag extcap
says what is installed.

Capturing needs root or CAP_NET_RAW, as 'iwdissect live' does, and Linux. The options of
an interface are in the dialog behind the gear of Wireshark; tshark takes them with -o, as
in the example. Without a capture filter (-f) everything is captured.`),
		Example: strings.Trim(`
  iwdissect extcap --install
  tshark -D
  tshark -i iwdissect-eth0 -Y frame.comment -T fields -e frame.number -e frame.comment
  tshark -i iwdissect-eth0 -o extcap.iwdissect_eth0.comments:findings -w trace.pcapng
`, "\n"),
		Args: maxArgs(0),
		RunE: func(*cobra.Command, []string) error { return o.run() },
	}
	f := cmd.Flags()
	f.BoolVar(&o.install, "install", false, "make the link")
	f.BoolVar(&o.uninstall, "uninstall", false, "remove the link")
	f.StringVar(&o.folder, "folder", "", "use this `FOLDER`, not the one that Wireshark names")
	_ = cmd.MarkFlagDirname("folder") // the flag is there
	return cmd
}

func (o *extcapOptions) run() error {
	if o.install && o.uninstall {
		return usagef("--install and --uninstall exclude each other")
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	folder := extcap.Folder{Path: o.folder, From: "--folder"}
	if o.folder == "" {
		if folder, err = extcap.FindFolder(); err != nil {
			return fmt.Errorf("no folder for it is known, name one with --folder: %w", err)
		}
	} else if folder.Path, err = filepath.Abs(o.folder); err != nil {
		return err
	}
	switch {
	case o.install:
		return o.link(folder, program)
	case o.uninstall:
		return o.unlink(folder, program)
	}
	return o.tell(folder, program)
}

func (o *extcapOptions) link(folder extcap.Folder, program string) error {
	l, done, err := extcap.Install(folder.Path, program)
	switch {
	case errors.Is(err, extcap.ErrTaken) && l.Foreign:
		return fmt.Errorf("%s is there and is no link to iwdissect: it is left as it is; move it away, or name another folder with --folder", l.Path)
	case errors.Is(err, extcap.ErrTaken):
		return fmt.Errorf("%s leads to another iwdissect, %s: remove it first with iwdissect extcap --uninstall", l.Path, l.Target)
	case err != nil:
		return o.advised(folder, err)
	}
	what := "is there already"
	if done {
		what = "was made"
	}
	return o.print("The link %s -> %s %s.\nWireshark and tshark list iwdissect's interfaces when they start the next time; 'tshark -D' shows them.\n", l.Path, program, what)
}

func (o *extcapOptions) unlink(folder extcap.Folder, program string) error {
	l, done, err := extcap.Uninstall(folder.Path, program)
	switch {
	case errors.Is(err, extcap.ErrTaken):
		return fmt.Errorf("%s is no link to iwdissect: it is left as it is", l.Path)
	case err != nil:
		return o.advised(folder, err)
	case done:
		return o.print("The link %s was removed.\n", l.Path)
	}
	return o.print("There is no link %s: nothing was removed.\n", l.Path)
}

// advised says what to do about an error of a folder.
func (o *extcapOptions) advised(folder extcap.Folder, err error) error {
	if errors.Is(err, os.ErrPermission) && o.folder == "" && folder.From != "" {
		return fmt.Errorf("%w; %s has no other folder: run this as root", err, folder.From)
	}
	return err
}

func (o *extcapOptions) tell(folder extcap.Folder, program string) error {
	l, err := extcap.Look(folder.Path, program)
	if err != nil {
		return err
	}
	from := "the usual folder; no Wireshark was found that would name it"
	if folder.From != "" {
		from = "by " + folder.From
	}
	state := "not installed; 'iwdissect extcap --install' makes the link"
	switch {
	case l.Ours:
		state = "installed: " + l.Path + " leads to this program"
	case l.Foreign:
		state = "not installed: " + l.Path + " is something else"
	case l.Target != "":
		state = "not installed: " + l.Path + " leads to another iwdissect, " + l.Target
	}
	return o.print("%s (%s)\n%s\n", folder.Path, from, state)
}

// print writes what was done. Names are escaped.
func (o *extcapOptions) print(format string, args ...any) error {
	_, err := fmt.Fprintf(o.s.Out, format, visible.Args(args)...)
	return brokenPipe(err)
}
