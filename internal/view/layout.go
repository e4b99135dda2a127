package view

// part is one of the panes.
type part int

// The panes, in the order in which Tab goes through them.
const (
	upperPart part = iota
	middlePart
	treePart
	octetsPart
	parts
)

// rect is where a pane is, in columns and lines from 0. Its first line is the heading.
type rect struct{ x, y, w, h int }

func (r rect) has(x, y int) bool { return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h }

// rows is how many lines below the heading there are.
func (r rect) rows() int { return max(r.h-1, 0) }

const (
	leastWidth  = 20
	leastHeight = 6
	// crowded is the height from which on all panes are shown, narrow the width from which on
	// tree and octets stand side by side, wide the width with sixteen octets in a line there.
	crowded = 16
	narrow  = 90
	wide    = 150

	octetsWide, octetsNarrow = 76, 43
)

// layout is where the panes are. Those that are not shown are empty.
func (m *Model) layout() (at [parts]rect) {
	body := rect{0, 2, m.width, m.height - 3}
	if m.zoomed || m.height < crowded {
		at[m.focus] = body
		if m.focus == treePart && m.width >= narrow {
			at[treePart], at[octetsPart] = m.split(body)
		}
		return at
	}
	upper, middle := body, body
	upper.h = max(min(body.h*27/100, m.longest()+1), 4)
	middle.y, middle.h = upper.y+upper.h, max(body.h*37/100, 4)
	low := rect{0, middle.y + middle.h, m.width, body.h - upper.h - middle.h}
	at[upperPart], at[middlePart] = upper, middle
	switch {
	case m.explaining():
		at[treePart] = low
	case m.width >= narrow:
		at[treePart], at[octetsPart] = m.split(low)
	case m.focus == octetsPart:
		at[octetsPart] = low
	default:
		at[treePart] = low
	}
	return at
}

// longest is how many lines the longest of the lists of the upper pane has.
func (m *Model) longest() int {
	return max(len(m.over.Conns), len(m.over.Diagnoses), len(m.over.Findings))
}

// split puts tree and octets side by side, with a column between them.
func (m *Model) split(r rect) (tree, octets rect) {
	w := octetsNarrow
	if r.w >= wide {
		w = octetsWide
	}
	tree, octets = r, r
	tree.w = r.w - w - 1
	octets.x, octets.w = tree.w+1, w
	return tree, octets
}

// explaining reports whether the lower pane explains what is chosen in the upper one.
func (m *Model) explaining() bool { return m.focus == upperPart }

// scroll is a cursor in lines of which only some are shown.
type scroll struct {
	at, top int
	left    int // columns that are left out
}

// show moves what is shown so that the cursor is in it.
func (s *scroll) show(from, to, rows int) {
	if to <= from {
		s.at, s.top = from, from
		return
	}
	s.at = min(max(s.at, from), to-1)
	s.top = min(max(s.top, s.at-rows+1, from), s.at)
	s.top = max(min(s.top, to-rows), from)
}
