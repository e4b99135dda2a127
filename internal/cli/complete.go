package cli

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/rulebook"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/services"
)

// completion offers words for what stands on the command line so far.
type completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// The words of flags that have the same ones in all commands.
var (
	recordKinds = []string{"frame", "pdu", "connection", "transaction", "finding"}
	severities  = []string{"error", "warning", "note"}
)

// offer registers what completes a flag. It does so for a shell that asks for completions alone:
// cobra keeps what is registered for as long as the process lives, and with it the command, its
// flags and its streams.
func (s *IOStreams) offer(cmd *cobra.Command, flag string, f completion) {
	if s.completing {
		_ = cmd.RegisterFlagCompletionFunc(flag, f) // it fails only if it was registered before
	}
}

// completes reports whether a shell asks for completions.
func completes(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// completeFlags registers what completes the flags that a command has.
func (s *IOStreams) completeFlags(cmd *cobra.Command, formats ...string) {
	times := make([]string, 0, len(timeWords))
	for _, w := range timeWords {
		times = append(times, w.word+"\t"+w.means)
	}
	outputs := make([]string, 0, len(formats))
	for _, f := range formats {
		if f != parquetFormat { // which is written to a folder
			outputs = append(outputs, f+"=")
		}
	}
	for name, f := range map[string]completion{
		"format":         words(formats...),
		"records":        lists(recordKinds),
		"fail-on":        words(severities...),
		"enable":         completeRules,
		"disable":        completeRules,
		"conn":           completeConns,
		"decode-as":      completePorts,
		"display-filter": completeFilter,
		"read-filter":    completeFilter,
		"mpa-layout":     words(mpa.LayoutRFC6581.String(), mpa.LayoutDraft01.String()),
		"output":         open(outputs),
		"task":           completeTasks,
		"shard":          words("0/2", "0/4", "0/8"),
		"show":           completeScenarios,
		"mix":            words("mixed", "bulk", "small"),
		"interface":      completeInterfaces,
		"live":           completeInterfaces,
		"output-dir":     fixed(nil, cobra.ShellCompDirectiveFilterDirs),
		"linktype":       words("EN10MB", "RAW", "LINUX_SLL"),
		"autostop":       open([]string{"duration:", "packets:", "filesize:", "files:"}),
		"ring-buffer":    open([]string{"duration:", "filesize:", "packets:", "interval:", "files:"}),
		statFlag:         completeStats,
		timeFlag:         words(times...),
		colourFlag:       words(colourWords...),
	} {
		if flag := cmd.Flags().Lookup(name); flag != nil && (name != "output" || flag.Value.Type() == "stringArray") {
			s.offer(cmd, name, f)
		}
	}
}

// words offers some words.
func words(all ...string) completion { return fixed(all, cobra.ShellCompDirectiveNoFileComp) }

// fixed offers those of some words that begin with what is there.
func fixed(all []string, directive cobra.ShellCompDirective) completion {
	return func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return beginning(word, all), directive
	}
}

// beginning are the offers that begin with a word.
func beginning(word string, offers []string) (some []string) {
	for _, o := range offers {
		if strings.HasPrefix(o, word) {
			some = append(some, o)
		}
	}
	return some
}

// open offers words behind which more follows.
func open(all []string) completion {
	return fixed(all, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace)
}

// lists offers words for the last place of a list with commas.
func lists(all []string) completion {
	return func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return beginning(word, inList(word, all)), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// inList puts each word that the list does not have yet behind it.
func inList(list string, all []string) (offers []string) {
	head := list[:strings.LastIndexByte(list, ',')+1]
	have := strings.Split(head, ",")
	for _, w := range all {
		if name, _, _ := strings.Cut(w, "\t"); !slices.Contains(have, name) {
			offers = append(offers, head+w)
		}
	}
	return offers
}

// completeRules offers the ids of rules and the selectors.
func completeRules(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	var offers []string
	for _, e := range conformance.Catalogue().Entries {
		offers = append(offers, e.ID+"\t"+e.Statement)
		for _, s := range []string{"layer=" + e.Layer, "severity=" + e.Severity.String(), "level=" + e.Level, "spec=" + e.Spec} {
			if !slices.Contains(offers, s) && !strings.HasSuffix(s, "=") {
				offers = append(offers, s)
			}
		}
	}
	return beginning(word, offers), cobra.ShellCompDirectiveNoFileComp
}

// completeWords offers all that can be explained.
func completeWords(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var offers []string
	for _, e := range conformance.Catalogue().Entries {
		offers = append(offers, e.ID+"\t"+e.Statement)
	}
	for _, t := range rulebook.Terms() {
		offers = append(offers, t.Name+"\t"+t.Says)
	}
	for _, f := range rulebook.Faults() {
		offers = append(offers, f.Code+"\t"+f.Name, f.Word+"\t"+f.Code)
	}
	for _, k := range rulebook.Kinds() {
		offers = append(offers, k.Name+"\t"+k.Says)
	}
	for _, g := range rulebook.Gates() {
		offers = append(offers, g.Name+"\t"+g.Says)
	}
	return beginning(word, offers), cobra.ShellCompDirectiveNoFileComp
}

// completeScenarios offers the built-in scenarios; files are offered too where they may
// be given.
func completeScenarios(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	offers := make([]string, 0, len(scenario.Builtin()))
	for _, s := range scenario.Builtin() {
		offers = append(offers, s.Name+"\t"+s.Summary)
	}
	return beginning(word, offers), cobra.ShellCompDirectiveDefault
}

// completeFields offers the names of fields.
func completeFields(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	offers := make([]string, 0, len(fields.All()))
	for _, f := range fields.All() {
		offers = append(offers, f.Name+"\t"+f.Label)
	}
	return beginning(word, offers), cobra.ShellCompDirectiveNoFileComp
}

// completePorts offers rules of -d.
func completePorts(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	var offers []string
	for i := range services.All {
		for _, p := range services.All[i].Ports {
			offers = append(offers, "tcp.port=="+strconv.Itoa(int(p))+",iwarp_mpa\t"+services.All[i].Name)
		}
	}
	return beginning(word, offers), cobra.ShellCompDirectiveNoFileComp
}

// The bounds of what is read of a capture while somebody waits for a completion.
const (
	completionFrames = 200_000
	completionTime   = time.Second
)

// completeConns offers the connections of the captures that stand on the command line.
func completeConns(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	read, _ := cmd.Flags().GetStringArray("read")
	files := append(slices.Clone(read), args...)
	// A key pressed sends no requests.
	if len(files) == 0 || readableTwice(files, "") != nil || slices.ContainsFunc(files, capture.IsURL) {
		return nil, directive
	}
	var offers []string
	in := new(input)
	end := time.Now().Add(completionTime)
	files, err := expand(files)
	if err != nil {
		return nil, directive
	}
	for _, name := range files {
		src, err := in.open(fileUnit(name), &IOStreams{In: strings.NewReader("")})
		if err != nil {
			continue
		}
		run := pipeline.New(pipeline.Options{Count: completionFrames, Brief: true}, nil)
		_ = run.Read(&until{src.Source, func() bool { return time.Now().After(end) }}) // what was read is offered
		_ = src.Close()                                                                // only read from
		for c := range run.Finish().All() {
			offer := strconv.FormatUint(c.Number, 10) + "\t" + c.Side[0].Addr.String() + " > " + c.Side[1].Addr.String()
			if !slices.Contains(offers, offer) {
				offers = append(offers, offer)
			}
		}
	}
	return beginning(word, inList(word, offers)), directive
}
