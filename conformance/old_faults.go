package conformance

import "slices"

// What the rules of advice share with those on how faults are answered, until those
// are literals too. It goes then.

func (c *Case) awaits(t *terminate) bool { return t.expected(c.conn) }

func (c *Case) noticeable(h *half) *Finding {
	fs := c.faults(h, func(f *Finding) bool { return f.Severity == Error && isOf(f, mustValidate...) })
	if i := slices.IndexFunc(fs, c.stands); i >= 0 {
		return fs[i]
	}
	return nil
}

func (c *Case) unexplained(layers ...string) (*Finding, closing) {
	k, ok := c.closed()
	if !ok || k.crossed {
		return nil, k
	}
	h := &c.half[other(k.dir)]
	if h.terminates+h.peer.terminates > 0 {
		return nil, k
	}
	fs := c.faults(h, func(f *Finding) bool {
		return f.Severity == Error && slices.Contains(layers, f.Rule.Layer) && !isOf(f, unseen...) && (k.Acked >= f.end || k.Acked < 0 && k.Frame > f.Frame)
	})
	slices.Reverse(fs)
	if i := slices.IndexFunc(fs, c.stands); i >= 0 {
		return fs[i], k
	}
	return nil, k
}

func (c *conn) tolerates(h *half) bool { return h.terminates == 0 && !c.endedBy(h) }

func (h *half) quotes() bool { return h.word != nil && len(h.word.sent) > 0 }
