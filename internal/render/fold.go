package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/trace"
)

// block is what was found of a rule in a capture, by frame.
type block struct {
	findings []*Finding
	// times counts those that are not listed too, conns the connections.
	times uint64
	conns int
}

// blocksOf puts findings of a rule together: errors, then warnings, then notes, each by
// the first frame. Those that are suppressed are left out, and those that are known
// unless all are wanted.
func blocksOf(fs []Finding, all bool) []*block {
	type key struct {
		rule     *conformance.Entry
		severity conformance.Severity
		known    bool
	}
	var blocks []*block
	at := map[key]*block{}
	for i := range fs {
		f := &fs[i]
		if f.Suppressed || f.Known && !all {
			continue
		}
		k := key{f.Rule, f.Severity, f.Known}
		if at[k] == nil {
			at[k] = new(block)
			blocks = append(blocks, at[k])
		}
		at[k].findings = append(at[k].findings, f)
	}
	for _, b := range blocks {
		conns := map[uint64]bool{}
		for _, f := range b.findings {
			b.times += uint64(f.times()) //nolint:gosec // a count
			conns[f.Conn.Number] = true
		}
		b.conns = len(conns)
	}
	slices.SortStableFunc(blocks, func(a, b *block) int { return cmp.Compare(b.findings[0].Severity, a.findings[0].Severity) })
	return blocks
}

// where says in a few words where the findings are. The first connection is named with
// its ends if it was not introduced.
func (b *block) where(introduced bool) string {
	f := b.findings[0]
	conn := fmt.Sprintf("conn %d", f.Conn.Number)
	if !introduced {
		conn += " (" + f.Conn.Side[trace.I2R].Addr.String() + arrow + f.Conn.Side[trace.R2I].Addr.String() + ")"
	}
	switch {
	case b.times == 1:
		return f.place() + ", " + conn
	case b.conns == 1:
		return diagnose.Number(b.times) + " findings on " + conn
	}
	return fmt.Sprintf("%s findings on %s connections, first %s frame %d",
		diagnose.Number(b.times), diagnose.Number(uint64(b.conns)), conn, f.Frame) //nolint:gosec // a count
}

// statement is what the message of a finding says in each place. Advice has the sentence of its rule, and behind it
// what it explains there.
func statement(f *Finding) string {
	if own := f.Rule.Message; own != "" && len(f.Rule.Explains) > 0 && strings.HasPrefix(f.Message, own) {
		return own
	}
	return f.Message
}

// mostKinds is how many kinds of findings of a rule are told apart.
const mostKinds = 3

// kinds are the findings that say the same, or each of them alone if all are wanted.
func (b *block) kinds(all bool) [][]*Finding {
	var kinds [][]*Finding
	at := map[string]int{}
	for _, f := range b.findings {
		message := statement(f)
		i, ok := at[message]
		switch {
		case all || !ok && len(kinds) < mostKinds:
			at[message] = len(kinds)
			kinds = append(kinds, []*Finding{f})
		case ok:
			kinds[i] = append(kinds[i], f)
		}
	}
	return kinds
}

// unlisted is how many findings are in none of the kinds: those that the engine only
// counted, if all are wanted, since otherwise they stand with the kinds.
func (b *block) unlisted(all bool) uint64 {
	n := b.times
	for _, g := range b.kinds(all) {
		for _, f := range g {
			n--
			if !all {
				n -= uint64(f.Further()) //nolint:gosec // a count
			}
		}
	}
	return n
}

// mostFrames, mostPlaces and mostConns bound what is listed of frames, of directions
// and of connections.
const (
	mostFrames = 3
	mostPlaces = 3
	mostConns  = 8
)

// places says where findings are: by direction in which frames, or only on which
// connections if these are many.
func places(fs []*Finding) string {
	type key struct {
		conn   uint64
		hasDir bool
		dir    trace.Dir
	}
	var keys []key
	at := map[key][]*Finding{}
	for _, f := range fs {
		k := key{f.Conn.Number, f.HasDir, f.Dir}
		if at[k] == nil {
			keys = append(keys, k)
		}
		at[k] = append(at[k], f)
	}
	if len(keys) > mostPlaces {
		conns := make([]uint64, len(keys))
		for i, k := range keys {
			conns[i] = k.conn
		}
		slices.Sort(conns)
		if conns = slices.Compact(conns); len(conns) > 1 {
			return listed("connection", conns, mostConns, uint64(len(conns)))
		}
	}
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = fmt.Sprintf("conn %d ", k.conn)
		if k.hasDir {
			parts[i] += k.dir.String() + " "
		}
		parts[i] += frames(at[k])
	}
	return strings.Join(parts, "; ")
}

// frames lists the first frames of findings, and counts the findings in others.
func frames(fs []*Finding) string {
	var ns []uint64
	var times uint64
	for _, f := range fs {
		times += uint64(f.times()) //nolint:gosec // a count
		if n := len(ns); n > 0 && ns[n-1] == f.Frame {
			times-- // stands there already
			continue
		}
		ns = append(ns, f.Frame)
	}
	return listed("frame", ns, mostFrames, times)
}

// listed lists the first numbers of things, and counts the rest of them.
func listed(what string, ns []uint64, most int, count uint64) string {
	if len(ns) > 1 {
		what += "s"
	}
	if len(ns) > most+1 || count > uint64(len(ns)) { // one more takes no more room than its count
		ns = ns[:min(len(ns), most)]
	}
	words := make([]string, len(ns))
	for i, n := range ns {
		words[i] = strconv.FormatUint(n, 10)
	}
	rest := count - uint64(len(ns))
	last := len(words) - 1
	switch {
	case rest > 0:
		return what + " " + strings.Join(words, ", ") + " and " + diagnose.Number(rest) + " more"
	case last == 0:
		return what + " " + words[0]
	}
	return what + " " + strings.Join(words[:last], ", ") + " and " + words[last]
}
