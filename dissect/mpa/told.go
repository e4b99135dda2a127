package mpa

// A run of headers behind a hole may begin in the payload of an FPDU whose own header is in the hole: if the
// last header in there ends where that FPDU does, the run goes on with what is right. Octets cannot tell the
// two readings apart, so the first headers of the run are told only if
//
//   - payload of the direction was searched, and nothing in it looks like FPDUs, or
//   - something else proves them: a marker; that no FPDU is so long that they could lie in it; what was seen of
//     the same message or queue before the hole; segments that end where FPDUs do, or
//   - they are joined to one that is proven: the same message goes on, or the next one of a queue begins. Then
//     all FPDUs between stand on the right run as well.

// queues is how many queues and kinds of tagged messages [Grammar.Queue] tells apart.
const queues = 5

// told takes a place as found by a run of headers, and sets where the first FPDU is that is told. It
// reports false if there is none.
func (d *Decoder) told(c *chain, how Sync) bool {
	s := &d.seek
	if c.count < c.again {
		return false
	}
	whole := c.from == d.start && d.ended && len(c.rest) == 0 // nothing else was captured
	if d.cfg.Segments != nil && d.cfg.CRC != Yes && !whole && s.afterGap {
		if d.inspect(c); !d.rare.likeness.ordinary() {
			from, ok := d.joined(c)
			if !ok {
				c.again = c.count + c.count/2
				return false
			}
			d.rare.at = from
		}
	}
	s.found = how
	return true
}

// unmarked reports whether a chain that is read without markers can have none: in a direction of which nothing
// else tells, it passes the place of one on any grid.
func (d *Decoder) unmarked(c *chain) bool {
	return d.markers || d.framing != Unknown || d.cfg.Markers != Unknown || d.cfg.CRC == Yes ||
		c.at-c.from >= MarkerInterval || d.cfg.Segments == nil
}

// reach is how far payload of a single FPDU can reach.
func (d *Decoder) reach() int64 {
	if d.aligned.begun+d.aligned.inside < manyFPDUs {
		return maxBridge // with its markers no FPDU is longer
	}
	return int64(d.aligned.largest)
}

// joined finds the first FPDU of a chain that is joined to a proven one, or is one.
func (d *Decoder) joined(c *chain) (from int64, ok bool) {
	sure := c.from + d.reach()
	if c.marked > 0 {
		sure = min(sure, c.marked)
	}
	own := chain{from: c.from, at: c.from, rest: d.from(c.from)}
	var flushed flushes
	var last [queues]struct {
		head  [minHead]byte
		n     int
		since int64 // the first FPDU that is right if the last of this queue is, or one behind it
	}
	for own.at <= c.at {
		d.rare.steps++
		l, f := d.link(&own)
		if f != fits {
			break
		}
		q, since := d.cfg.Grammar.Queue(l.head), own.at
		if x := &last[q]; x.n > 0 && d.cfg.Grammar.Joins(x.head[:], x.n, l.head) {
			since = x.since
		}
		for i := range last {
			last[i].since = min(last[i].since, since)
		}
		x := &last[q]
		x.n, x.since = l.n, since
		x.head = [minHead]byte{}
		copy(x.head[:], l.head)
		if (own.at >= sure || flushed.prove() || d.continues(&l, own.at)) && (!ok || since < from) {
			from, ok = since, true
		}
		if len(own.rest) < l.size {
			break
		}
		flushed.add(d, own.at, own.at+int64(l.size))
		own.add(&l)
	}
	return from, ok
}

// continues reports whether an FPDU goes on with what was seen before the hole.
func (d *Decoder) continues(l *link, at int64) bool {
	return d.cfg.Before != nil && d.cfg.Before.Continues(l.head, at-d.framed)
}

// flushes counts the segments that end among the FPDUs of a chain, and those that end with one. A sender
// that lays FPDUs anywhere ends a segment with the last one it has; payload does so by chance.
type flushes struct{ all, ends int }

// fewFlushes is how many such segments prove the FPDU behind them, if they are one in rareFlush at least.
const fewFlushes, rareFlush = 3, 6

func (f *flushes) prove() bool { return f.ends >= fewFlushes && f.ends*rareFlush >= f.all }

// add takes an FPDU in.
func (f *flushes) add(d *Decoder, at, end int64) {
	for at < end {
		_, to, ok := d.cfg.Segments.Segment(at)
		if !ok {
			to = max(d.holeEnd(at), at+1)
		}
		if to = max(to, at+1); to > end {
			return
		}
		f.all++
		if to == end {
			f.ends++
		}
		at = to
	}
}
