package view

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/iwdissect/iwdissect/conformance"
)

// tab says what the upper pane lists.
type tab int

// The tabs.
const (
	connsTab tab = iota
	diagnosesTab
	findingsTab
	tabs
)

// Model is the interface: what is shown, and where in it the user is. It implements
// [tea.Model].
type Model struct {
	c    *Capture
	ctx  context.Context //nolint:containedctx // ends with the program
	stop context.CancelFunc
	// plain: there are no colours.
	plain         bool
	width, height int

	over   Overview
	looked time.Time // when it was asked for
	took   time.Duration
	cache  *Cache

	focus   part
	zoomed  bool
	tab     tab
	uppers  [tabs]scroll
	conn    uint64 // that is chosen in the list of connections
	showing int    // of the frames of a diagnosis

	rows rowsShown
	pdus scroll
	tail bool // stays at the end of a list that grows
	tree treeView
	hex  scroll // lines of octets

	filter  filterState
	asking  asking
	talk    talkView
	loading job
	// loadBegan and loadEnded are when the last reading for details did, loadTook how long it took.
	loadBegan, loadEnded time.Time
	loadTook             time.Duration
	help                 *scroll
	note                 string // in the last line, until the next key
	jumped               int    // finding that was jumped to, from 1
	ticking              bool
}

// job is work in the background, of which one of a kind is under way at most.
type job struct {
	n      int
	cancel context.CancelFunc // nil: none is under way
}

// start ends what is under way and returns the context of the next one, and its number.
func (j *job) start(ctx context.Context) (context.Context, int) {
	j.end()
	j.n++
	ctx, j.cancel = context.WithCancel(ctx)
	return ctx, j.n
}

func (j *job) end() {
	if j.cancel != nil {
		j.cancel()
		j.cancel = nil
	}
}

// over takes note that a job has ended; false: another one is under way, or none.
func (j *job) over(n int) bool {
	if n != j.n || j.cancel == nil {
		return false
	}
	j.end()
	return true
}

// NewModel makes the interface of a capture. Colours are left out if plain.
func NewModel(ctx context.Context, c *Capture, isPlain bool) *Model {
	ctx, stop := context.WithCancel(ctx)
	m := &Model{c: c, ctx: ctx, stop: stop, plain: isPlain, cache: NewCache(min(c.Memory/partOfDetails, mostDetails)), width: 80, height: 24, focus: middlePart, tail: c.Live}
	m.rows.all = c.All
	m.tree.open = map[string]bool{}
	return m
}

// What commands tell when they are over.
type (
	tickMsg    struct{}
	readMsg    struct{}
	detailsMsg struct{ n int }
	matchedMsg struct {
		n   int
		err error
	}
	followedMsg struct {
		n int
		d *Dialogue
	}
)

// Init implements [tea.Model].
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.read, m.tick()}
	if m.filter.text != "" {
		cmds = append(cmds, m.match(m.filter.text))
	}
	return tea.Batch(cmds...)
}

// Preset sets a filter before the program starts.
func (m *Model) Preset(filter string) { m.filter.text = filter }

func (m *Model) read() tea.Msg {
	m.c.Read(m.ctx)
	return readMsg{}
}

// tickEvery is how often what is shown is renewed while something is under way.
const tickEvery = 100 * time.Millisecond

func (m *Model) tick() tea.Cmd {
	if m.ticking {
		return nil
	}
	m.ticking = true
	return tea.Tick(tickEvery, func(time.Time) tea.Msg { return tickMsg{} })
}

// busy reports whether something is under way that changes what is shown.
func (m *Model) busy() bool {
	return !m.over.State.Done || m.filter.job.cancel != nil || m.loading.cancel != nil || m.talk.job.cancel != nil
}

// look asks what is known of the capture. Asking often would hold up the reading of a capture
// with many connections.
func (m *Model) look(force bool) {
	now := time.Now()
	if !force && now.Sub(m.looked) < 10*m.took {
		return
	}
	o, changed := m.c.Overview()
	m.took, m.looked = time.Since(now), now
	if !changed {
		return
	}
	m.over = o
	for i := range o.Conns { // the cursor stays with its connection
		if o.Conns[i].Number == m.conn && m.uppers[connsTab].at > 0 {
			m.uppers[connsTab].at = i
			break
		}
	}
}

// Update implements [tea.Model].
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		m.note = ""
		cmd = m.key(msg)
	case tea.PasteMsg:
		if m.asking.what != nothing {
			m.asking.line.insert(msg.Content)
			m.offer()
		}
	case tea.MouseClickMsg:
		m.note = ""
		cmd = m.click(tea.Mouse(msg))
	case tea.MouseWheelMsg:
		m.wheel(tea.Mouse(msg))
	case tickMsg:
		m.ticking = false
		m.look(false)
	case readMsg:
		m.look(true)
	case detailsMsg:
		if m.loading.over(msg.n) {
			m.loaded()
		}
	case matchedMsg:
		m.matched(msg)
	case followedMsg:
		if m.talk.job.over(msg.n) {
			m.talk.d = msg.d
			m.talk.lay(m.width)
			m.beginTalk()
		}
	}
	return m, tea.Batch(cmd, m.settle())
}

// settle brings all that is shown in line with what has changed, and starts the work for it.
func (m *Model) settle() tea.Cmd {
	at := m.layout()
	for t := range tabs {
		m.uppers[t].show(0, m.lines(t), at[upperPart].rows())
	}
	if o := m.over.Conns; len(o) > 0 {
		m.conn = o[m.uppers[connsTab].at].Number
	}
	m.rows.renew()
	from, to := m.rows.span()
	if m.tail {
		m.pdus.at = to - 1
	}
	m.pdus.show(from, to, at[middlePart].rows())
	m.talk.lay(m.width)
	m.talk.at.show(0, len(m.talk.lines), at[middlePart].rows())
	m.alongside()
	m.pdus.show(from, to, at[middlePart].rows())
	load := m.load()
	m.showTree(at)
	if !m.busy() {
		return load
	}
	return tea.Batch(load, m.tick())
}

// lines is how many lines a tab has.
func (m *Model) lines(t tab) int {
	switch t {
	case connsTab:
		return len(m.over.Conns)
	case diagnosesTab:
		return len(m.over.Diagnoses)
	default:
		return len(m.over.Findings)
	}
}

// row is the PDU that is chosen, if there is one.
func (m *Model) row() (Row, bool) {
	from, to := m.rows.span()
	if m.pdus.at < from || m.pdus.at >= to {
		return Row{}, false
	}
	return m.rows.row(m.pdus.at), true
}

// levelOf is the worst finding about a PDU.
func (m *Model) levelOf(r *Row) conformance.Severity {
	if m.rows.list().foreign {
		return conformance.None
	}
	return m.c.Level(r.Number)
}
