package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/internal/bpf"
	"github.com/iwdissect/iwdissect/internal/live"
)

// colourWords are what --color takes.
var colourWords = []string{"auto", "always", "never"}

// prepared returns the command line in a form that pflag reads as it is meant. Some flags
// have a value that may be left out, and take the next argument if it is one of their
// words: --color and --join, which must not swallow FILE, and -t, which tcpdump has without a value.
func prepared(root *cobra.Command, args []string) []string {
	if len(args) == 0 || completes(args) {
		return args
	}
	cmd, _, err := root.Find(args)
	if err != nil || cmd == nil {
		cmd = root
	}
	out := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return append(out, args[i:]...)
		}
		if times, others, ok := timesAmong(cmd.Flags(), arg); ok {
			args = slices.Concat(args[:i], []string{times, others}, args[i+1:])
			arg = times
		}
		out = append(out, arg)
		f := wantsValue(cmd.Flags(), arg)
		switch {
		case f == nil:
		case f.Name == timeFlag:
			if i+1 < len(args) && (isTimeWord(args[i+1]) || arg == "-t" && mistakenTime(cmd.Name(), args[i+1])) {
				i++
				out = append(out, args[i])
			} else if !strings.HasPrefix(arg, "--") {
				out[len(out)-1] += "=" + noTime
			}
		case f.Name == colourFlag:
			if i+1 < len(args) && slices.Contains(colourWords, args[i+1]) {
				i++
				out[len(out)-1] += "=" + args[i]
			}
		case f.Name == joinFlag:
			if i+1 < len(args) && slices.Contains(joinWords, args[i+1]) && !exists(args[i+1]) {
				i++
				out[len(out)-1] += "=" + args[i]
			}
		case i+1 < len(args):
			i++
			out = append(out, args[i]) // its value, whatever it looks like
		}
	}
	return out
}

// exists reports whether there is a file of a name.
func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// mistakenTime reports whether a word behind -t can only be meant as its value, though it is
// none: no file, interface or filter is called that.
func mistakenTime(command, word string) bool {
	if word == "" || len(word) > 6 || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
		return false
	}
	if exists(word) {
		return false
	}
	if command != "live" {
		return true
	}
	list, err := live.Interfaces()
	return err == nil && word != live.AnyInterface && !slices.Contains(bpf.Words(), word) &&
		!slices.ContainsFunc(list, func(i live.Interface) bool { return i.Name == word })
}

// timesAmong cuts the letters of tcpdump -ttttnr behind those of the time: -tttt -nr. What
// stands behind a single -t is its value, as in -tad.
func timesAmong(flags *pflag.FlagSet, arg string) (times, others string, ok bool) {
	letters, short := strings.CutPrefix(arg, "-")
	if f := flags.Lookup(timeFlag); !short || f == nil || f.Shorthand != "t" {
		return "", "", false
	}
	before, behind, ok := strings.Cut(letters, "t")
	for i := range len(before) {
		if f := flags.ShorthandLookup(before[i : i+1]); f == nil || f.NoOptDefVal == "" {
			return "", "", false // what follows is its value
		}
	}
	rest := strings.TrimLeft(behind, "t")
	if !ok || rest == "" || rest == behind || flags.ShorthandLookup(rest[:1]) == nil {
		return "", "", false
	}
	return arg[:len(arg)-len(rest)], "-" + rest, true
}

// wantsValue returns the flag that an argument ends with, if its value would be the next
// one: a long flag without =, or the last of several letters.
func wantsValue(flags *pflag.FlagSet, arg string) *pflag.Flag {
	if name, long := strings.CutPrefix(arg, "--"); long {
		if f := flags.Lookup(name); f != nil && (f.NoOptDefVal == "" || f.Name == colourFlag || f.Name == joinFlag) {
			return f
		}
		return nil
	}
	letters, short := strings.CutPrefix(arg, "-")
	if !short {
		return nil
	}
	for i := range len(letters) {
		f := flags.ShorthandLookup(letters[i : i+1])
		if f == nil {
			return nil
		}
		if f.NoOptDefVal == "" {
			if i == len(letters)-1 {
				return f
			}
			return nil // its value follows in the same argument
		}
	}
	return nil
}
