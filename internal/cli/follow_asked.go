package cli

import (
	"slices"
	"strconv"
	"strings"
)

// followAsked makes the command follow of arguments with -z follow,tcp,hex,3, as people type
// it for tshark; other arguments are returned as they are. What cannot be meant is an error
// that names the command.
func followAsked(args []string) ([]string, error) {
	at, value, n := followPlace(args)
	if at < 0 {
		return args, nil
	}
	part := strings.Split(value, ",")
	const usage = "-z %s: it takes follow,tcp,hex,N or follow,sctp,ascii,N, with the number of a connection; 'iwdissect follow' does the same"
	switch {
	case len(part) < 4, part[1] != "tcp" && part[1] != "sctp", !slices.Contains([]string{"hex", "ascii", "raw", "utf-8", "ebcdic", "yaml"}, part[2]):
		return nil, usagef(usage, value)
	case len(part) > 4:
		return nil, usagef("-z %s: endpoints and ranges are not taken; 'iwdissect follow -x CONN FILE' shows a connection by its number, which 'iwdissect FILE' lists", value)
	}
	if _, err := strconv.ParseUint(part[3], 10, 64); err != nil {
		return nil, usagef(usage, value)
	}
	rest := slices.Delete(slices.Clone(args), at, at+n)
	if len(rest) > 0 && (rest[0] == "dissect" || rest[0] == "analyze") {
		rest = rest[1:]
	}
	form := "hex"
	switch part[2] {
	case "ascii", "utf-8":
		form = "ascii"
	case "raw":
		form = "raw"
	}
	return append([]string{"follow", "--" + payloadFlag, form, "--conn", part[3]}, rest...), nil
}

// followPlace finds -z follow,...: where it stands, its value, and how many arguments it is;
// -1 if there is none.
func followPlace(args []string) (at int, value string, n int) {
	const flag, long = "-z", "--statistics"
	for i, arg := range args {
		value, n := "", 1
		switch {
		case arg == "--":
			return -1, "", 0
		case (arg == flag || arg == long) && i+1 < len(args):
			value, n = args[i+1], 2
		case strings.HasPrefix(arg, long+"="):
			value = arg[len(long)+1:]
		case strings.HasPrefix(arg, flag):
			value = strings.TrimPrefix(arg[len(flag):], "=")
		}
		if strings.HasPrefix(value, "follow,") || value == "follow" {
			return i, value, n
		}
	}
	return -1, "", 0
}
