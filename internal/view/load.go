package view

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// around is how many rows on each side of the one that is chosen are loaded with it, ahead from
// how many on they are loaded before they are chosen.
const (
	around = 160
	ahead  = 24
	// mostLoaded bounds the octets of PDUs that are loaded at once.
	mostLoaded = 8 << 20
)

// load begins to load details, if some that are needed are not there.
func (m *Model) load() tea.Cmd {
	from, to := m.rows.span()
	at := m.pdus.at
	if at < from || at >= to {
		return nil
	}
	missing := func(i int) bool {
		r := m.rows.row(i)
		return m.cache.Get(r.ID) == nil && !m.tree.lost[r.ID]
	}
	now := missing(at)
	soon := missing(max(at-ahead, from)) || missing(min(at+ahead, to-1))
	switch {
	case !now && !soon:
		return nil
	case m.hold():
		return nil
	case m.loading.cancel != nil && (!now || m.tree.covers(m.rows.row(at).ID)):
		return nil
	}
	ids := m.window(from, to)
	ctx, n := m.loading.start(m.ctx)
	m.loadBegan = time.Now()
	m.tree.asked = ids
	return func() tea.Msg {
		_ = m.c.Details(ctx, ids, m.cache) // it ended early, or the first reading told of it
		return detailsMsg{n}
	}
}

// window are the PDUs to be loaded: those around the one that is chosen, the nearest first.
func (m *Model) window(from, to int) (ids []ID) {
	octets := int64(0)
	add := func(i int) {
		if i < from || i >= to || octets > int64(min(mostLoaded, m.cache.most/4)) {
			return
		}
		r := m.rows.row(i)
		if m.cache.Get(r.ID) == nil {
			ids = append(ids, r.ID)
			octets += r.Length
		}
	}
	add(m.pdus.at)
	for i := 1; i <= around; i++ {
		add(m.pdus.at + i)
		add(m.pdus.at - i)
	}
	return ids
}

// hold reports whether details have to wait: while the cursor stays at the end of what comes, each
// moment has another PDU, and to read the capture again for each would take all the time.
func (m *Model) hold() bool {
	return m.tail && m.c.Live && !m.over.State.Done && (m.loading.cancel != nil || time.Since(m.loadEnded) < 4*m.loadTook)
}

// loaded takes note of what a reading for details did not find.
func (m *Model) loaded() {
	m.loadEnded = time.Now()
	m.loadTook = m.loadEnded.Sub(m.loadBegan)
	for _, id := range m.tree.asked {
		if m.cache.Get(id) == nil {
			if m.tree.lost == nil || len(m.tree.lost) > 1<<16 {
				m.tree.lost = map[ID]bool{}
			}
			m.tree.lost[id] = true
		}
	}
	m.tree.asked = nil
}
