package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/rulebook"
	"github.com/iwdissect/iwdissect/internal/strictyaml"
)

// nearest returns the word that was most likely meant: a field that tells the same, the one
// with few other letters, or the only one that begins so. "" if there is none.
func nearest(word string, words []string) string {
	if same := fields.Instead(word); same != "" && slices.Contains(words, same) {
		return same
	}
	if near := strictyaml.Nearest(word, words); near != "" {
		return near
	}
	var begins []string
	for _, w := range words {
		if len(word) > 1 && strings.HasPrefix(strings.ToLower(w), strings.ToLower(word)) {
			begins = append(begins, w)
		}
	}
	if len(begins) == 1 {
		return begins[0]
	}
	return ""
}

// noCommand says that a word is no command, and which one may have been meant.
func noCommand(root *cobra.Command, word string) error {
	if s := root.SuggestionsFor(word); len(s) > 0 {
		return usagef("there is no command %q, did you mean %s?", word, s[0])
	}
	return usagef("there is no command %q", word)
}

// wrongFlag makes an error of usage of what pflag refuses, and says which flag may have
// been meant.
func wrongFlag(cmd *cobra.Command, err error) error {
	var no *pflag.NotExistError
	if !errors.As(err, &no) {
		if bad := new(pflag.InvalidValueError); errors.As(err, &bad) && errors.As(err, new(*strconv.NumError)) {
			if _, err := strconv.ParseInt(bad.GetValue(), 10, 64); err == nil && bad.GetValue()[0] == '-' {
				return usagef("--%s must not be negative, as %s is", bad.GetFlag().Name, bad.GetValue())
			}
			return usagef("--%s takes a number, not %q", bad.GetFlag().Name, bad.GetValue())
		}
		return &usageError{err}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	name, written := no.GetSpecifiedName(), "--"+no.GetSpecifiedName()
	if letters := no.GetSpecifiedShortnames(); letters != "" {
		name, written = "", "-"+name
		if len(letters) > 1 { // perhaps a long one with one dash
			name, _, _ = strings.Cut(letters, "=")
			written += " in -" + letters
		}
	}
	if near := nearest(name, names); name != "" && near != "" {
		return usagef("unknown flag %s; did you mean --%s?", written, near)
	}
	if strings.HasPrefix(written, "-f") {
		return usagef("-f filters what is captured, with live and check --live; of a file -Y selects, as in Wireshark")
	}
	if elsewhere := flagElsewhere(cmd, written); elsewhere != "" {
		return usagef("unknown flag %s; %s", written, elsewhere)
	}
	return usagef("unknown flag %s", written)
}

// ofOthers are flags of tshark and tcpdump that have no like here under any command, and what
// does the same.
var ofOthers = map[string]string{
	"-A": "-x shows octets, and as text",
	"-G": "'iwdissect fields' lists the fields",
	"-S": "-o tcp.relative_sequence_numbers:FALSE shows sequence numbers as they are",
	"-F": "-w FILE writes pcap or pcapng as the name of FILE ends",
	"-v": "'iwdissect version' prints the version",
	"-H": namesStay,
	"-N": namesStay,

	"--disable-protocol":  "--no-upper-layers leaves out what is carried",
	"--enable-heuristic":  anyPort,
	"--enable-protocol":   anyPort,
	"--disable-heuristic": "-d tcp.port==PORT,iwarp_mpa says where MPA is",
	"--export-objects":    "'iwdissect dissect --payload DIR' writes what messages carry to files",
}

const (
	namesStay = "names are never resolved"
	anyPort   = "all protocols are on, and MPA is looked for on every port"
)

// flagElsewhere says which other commands have a flag, or what does the same; "" if nothing
// does. The flag is written as --name, -n, or -n in -nr.
func flagElsewhere(cmd *cobra.Command, written string) string {
	written, _, _ = strings.Cut(written, " ")
	if hint := ofOthers[written]; hint != "" {
		return hint
	}
	var have []string
	for _, c := range cmd.Root().Commands() {
		if c.Hidden || c.Name() == "generate" || c.Name() == cmd.Name() {
			continue
		}
		name, long := strings.CutPrefix(written, "--")
		if long && c.Flags().Lookup(name) != nil || !long && c.Flags().ShorthandLookup(written[1:]) != nil {
			have = append(have, "'"+c.CommandPath()+"'")
		}
	}
	switch n := len(have); n {
	case 0:
		return ""
	case 1:
		return have[0] + " has it"
	default:
		return strings.Join(have[:n-1], ", ") + " and " + have[n-1] + " have it"
	}
}

// noRule says that a pattern names no rule, and which one it may have been meant to name.
func noRule(pattern string) string {
	key, value, selector := strings.Cut(pattern, "=")
	switch {
	case selector:
		if near := nearSelector(key, value); near != "" {
			return fmt.Sprintf("no rule is named by %q; did you mean %s?", pattern, near)
		}
	case !strings.ContainsAny(pattern, "*?["):
		if near := nearRule(pattern); near != "" {
			return fmt.Sprintf("unknown rule %s; did you mean %s?", pattern, near)
		}
		if glob := rulesAbout(pattern); glob != "" {
			return fmt.Sprintf("unknown rule %s; did you mean '%s'?", pattern, glob)
		}
	}
	if f, ok := rulebook.Find(pattern); ok && f.Rule == nil {
		return fmt.Sprintf("%s is no rule; 'iwdissect explain %s' explains it", pattern, pattern)
	}
	return fmt.Sprintf("no rule is named by %q", pattern)
}

// rulesAbout is the pattern of the rules whose ids begin with a word or have it in them, ""
// if there are none.
func rulesAbout(word string) string {
	word = strings.Trim(strings.ToUpper(word), "-")
	has := func(f func(string, string) bool, part string) bool {
		return slices.ContainsFunc(rulebook.All(), func(r *rulebook.Rule) bool { return f(r.ID, part) })
	}
	switch {
	case word == "":
		return ""
	case has(strings.HasPrefix, word+"-"):
		return word + "-*"
	case has(strings.Contains, "-"+word+"-"):
		return "*-" + word + "-*"
	}
	return ""
}

// nearSelector finds the selector that was meant by one such as layer=mpaa.
func nearSelector(key, value string) string {
	values := map[string][]string{"spec": nil, "level": nil, "layer": nil, "severity": nil}
	for _, e := range conformance.Catalogue().Entries {
		for k, v := range map[string]string{"spec": e.Spec, "level": e.Level, "layer": e.Layer, "severity": e.Severity.String()} {
			if !slices.Contains(values[k], v) {
				values[k] = append(values[k], v)
			}
		}
	}
	k := strictyaml.Nearest(key, strictyaml.Names(values))
	v := strictyaml.Nearest(value, values[k])
	if k == "" || v == "" {
		return ""
	}
	if near := k + "=" + v; !strings.Contains(near, " ") {
		return near
	}
	return "'" + k + "=" + v + "'"
}

// nearRule finds the rule whose id is most like a word: ids are made of words, of which
// people forget one sooner than they misspell it. Of those that are as near, it is one
// that is checked, and that most scenarios break.
func nearRule(word string) string {
	if len(word) > 64 {
		return ""
	}
	parts := strings.Split(strings.ToUpper(word), "-")
	type candidate struct {
		id        string
		far       int
		unchecked bool
		broken    int
	}
	var all []candidate
	for _, r := range rulebook.All() {
		if far := apart(parts, strings.Split(r.ID, "-")); far <= farthest {
			all = append(all, candidate{r.ID, far, r.State != rulebook.Checked, len(r.Scenarios)})
		}
	}
	if len(all) == 0 {
		return ""
	}
	return slices.MinFunc(all, func(a, b candidate) int {
		if a.far != b.far {
			return cmp.Compare(a.far, b.far)
		}
		if a.unchecked != b.unchecked {
			if a.unchecked {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(b.broken, a.broken), cmp.Compare(a.id, b.id))
	}).id
}

// How much the words of two ids may differ: by farthest in all. A word that one of them
// lacks costs less than another one, a misspelt one still less, and another number the
// least.
const (
	otherNumber = 1
	misspelt    = 2
	missing     = 4
	otherWord   = 6
	farthest    = 6
)

// apart is how much two ids differ.
func apart(a, b []string) int {
	above, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j * missing
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i * missing
		for j := 1; j <= len(b); j++ {
			row[j] = min(above[j-1]+unlike(a[i-1], b[j-1]), above[j]+missing, row[j-1]+missing)
		}
		above, row = row, above
	}
	return above[len(b)]
}

// unlike is how much two words of ids differ.
func unlike(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "" || b == "":
		return otherWord
	case a[0] <= '9' && b[0] <= '9':
		if strings.TrimLeft(a, "0") == strings.TrimLeft(b, "0") {
			return 0
		}
		return otherNumber
	case strictyaml.Nearest(a, []string{b}) != "":
		return misspelt
	}
	return otherWord
}
