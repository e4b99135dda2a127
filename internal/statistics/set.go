package statistics

import (
	"errors"
	"fmt"
	"strings"

	"github.com/iwdissect/iwdissect/internal/budget"
	"github.com/iwdissect/iwdissect/internal/display"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/trace"
)

// Only is what all statistics of a run are of.
type Only struct {
	// Filter is that of a display filter: frames that match it count, with all that became
	// known with them. Known is what an earlier run over the capture found, nil for none.
	Filter string
	Known  *fields.Hindsight
	// Within reports whether a frame may count at all; nil: each may.
	Within func(frame uint64) bool
	// Describe tells a PDU in a line, for filters that ask for the column Info.
	Describe func(b []byte, p *trace.PDU) []byte
	// Again says that a second reading, which there was not, would tell of each PDU with its frame.
	Again bool
	// Memory is the account of the run, nil for none.
	Memory *budget.Account
}

// Set are the statistics that were asked for.
type Set struct{ specs []*spec }

// spec is one of them.
type spec struct {
	kind Kind
	arg  string // as it was given
	// filter is the text of its filter, matcher what decides, nil without one.
	filter  string
	matcher *matcher
	// taps makes the taps for a capture.
	taps func(s *spec) []tap
}

// Parse reads the arguments of -z. The error says which statistic was meant, or what is
// wrong with its argument.
func Parse(args []string) (*Set, error) {
	s := new(Set)
	for _, arg := range args {
		one, err := parse(arg)
		if err != nil {
			return nil, err
		}
		s.specs = append(s.specs, one)
	}
	return s, nil
}

func parse(arg string) (*spec, error) {
	k, rest, ok := find(arg)
	if !ok {
		if name := near(arg); name != "" {
			return nil, fmt.Errorf("no statistic is called %q; did you mean %s? (-z help lists all)", arg, name)
		}
		return nil, fmt.Errorf("no statistic is called %q (-z help lists all)", arg)
	}
	s := &spec{kind: k, arg: arg}
	if err := k.make(s, rest); err != nil {
		if name := near(arg); isWord(rest) && name != "" && name != k.Name { // as of conv,tpc
			return nil, fmt.Errorf("no statistic is called %q; did you mean %s? (-z help lists all)", arg, name)
		}
		var e *display.Error
		if errors.As(err, &e) && k.words != "" && isWord(first(rest)) && e.Column == 1 {
			e.Message += "; " + k.words
		}
		return nil, fmt.Errorf("-z %s: %w", arg, err)
	}
	return s, nil
}

// first is what an argument begins with.
func first(args string) string {
	part, _, _ := cut(args)
	return strings.TrimSpace(part)
}

// isWord reports whether a text is a single word, which may be meant as a part of a name.
func isWord(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}

// only sets the filter of a statistic.
func (s *spec) only(filter string) (err error) {
	s.filter = strings.TrimSpace(filter)
	s.matcher, err = newMatcher(s.filter, nil)
	return err
}

// Needs says what a set of statistics has to see.
type Needs struct {
	// Frames: all frames. PDUs: all PDUs. Findings: those of the rules. Times is enough:
	// nothing but the time and the length of each frame is looked at.
	// Related: what PDUs are to each other, and to the upper layer.
	// Upper: operations of upper layers.
	Frames, PDUs, Findings, Times, Related, Upper bool
}

// Empty reports whether nothing was asked for.
func (s *Set) Empty() bool { return s == nil || len(s.specs) == 0 }

// cut takes the part of an argument before the first comma that is in no bracket and no
// quotes.
func cut(args string) (part, rest string, more bool) {
	depth, quoted := 0, byte(0)
	for i := 0; i < len(args); i++ {
		switch c := args[i]; {
		case quoted != 0:
			switch c {
			case '\\':
				i++
			case quoted:
				quoted = 0
			}
		case c == '"' || c == '\'':
			quoted = c
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == ',' && depth <= 0:
			return args[:i], args[i+1:], true
		}
	}
	return args, "", false
}
