package ulp

import "github.com/iwdissect/iwdissect/trace"

// The bounds on what is kept of a direction.
const (
	maxOperations = 1024
	maxGrants     = 4096
	// maxReads is the number of RDMA Reads that await their response.
	maxReads = 256
	// maxNames is the number of names of operations that are counted separately.
	maxNames = 64
)

// Operation is a request of the upper layer that has no answer yet.
type Operation struct {
	// ID tells it from others; Name is what is done.
	ID   uint64
	Name string
	// Mark belongs to the decoder.
	Mark uint64

	pdu, frame uint64
	time       int64
	sent       uint64 // the frame in which it was captured
	order      uint64 // the n-th of the connection
	grants     int32  // one beyond the index of its first grant, 0 for none
	older      int32  // one beyond the slot of the one with the same ID before it, 0 for none
	used       bool
}

// operations are those that one side asked for.
type operations struct {
	byID  map[uint64]int32 // the latest of each ID
	slots []Operation
	free  []int32
	// grants are the STags that the side announced; byTag has one beyond the index of the
	// first of each.
	grants []grant
	spare  []int32
	byTag  map[uint32]int32
	// reads are the RDMA Reads that this side sent.
	reads []read
	// early are answers to operations of this side that became known before them.
	early []early
}

// grant is memory that a side announced for one of its operations, or for one of the other
// side.
type grant struct {
	stag         uint32
	base, length uint64
	op           opRef
	next         int32 // of the same STag
	ofOp         int32 // of the same operation
}

// opRef refers to an operation; it is void once the slot has another order.
type opRef struct {
	dir   trace.Dir
	slot  int32
	order uint64
}

// read is an RDMA Read for an operation.
type read struct {
	stag     uint32
	to, size uint64
	op       opRef
}

// at returns the slot of an operation that has not ended, or -1.
func (q *operations) at(id, order uint64) int32 {
	i, ok := q.byID[id]
	for ok && q.slots[i].order != order {
		i = q.slots[i].older - 1
		ok = i >= 0
	}
	if !ok {
		return -1
	}
	return i
}

// begin begins an operation of a side. One with the same ID was answered before, or never is. Where answers wait
// behind octets that are missing, its answer may be one of them.
func (c *conn) begin(dir trace.Dir, id uint64, name string, p *trace.PDU) *Operation {
	q := &c.ops[dir]
	if q.byID == nil {
		q.byID = map[uint64]int32{}
	}
	if i, ok := q.byID[id]; ok && !p.Conn.Flow[1-dir].Waiting {
		c.giveUpBefore(dir, i)
		c.giveUp(dir, i)
	} else if len(q.slots)-len(q.free) >= maxOperations {
		c.giveUp(dir, q.oldest())
	}
	var i int32
	if n := len(q.free); n > 0 {
		i, q.free = q.free[n-1], q.free[:n-1]
	} else {
		i = int32(len(q.slots)) //nolint:gosec // at most maxOperations
		q.slots = append(q.slots, Operation{})
	}
	c.order++
	q.slots[i] = Operation{ID: id, Name: name, pdu: p.Number, frame: p.Frame, time: p.Time, order: c.order, used: true}
	q.slots[i].sent, _ = captured(p)
	if older, ok := q.byID[id]; ok {
		q.slots[i].older = older + 1
	}
	q.byID[id] = i
	c.layer.Asked[dir]++
	c.layer.Outstanding++
	return &q.slots[i]
}

// oldest is the slot of the operation that waits longest.
func (q *operations) oldest() int32 {
	at, order := int32(0), ^uint64(0)
	for i := range q.slots {
		if o := &q.slots[i]; o.used && o.order < order {
			at, order = int32(i), o.order
		}
	}
	return at
}

// find returns the latest operation with an ID that a side had asked for by a frame.
func (c *conn) find(dir trace.Dir, id, frame uint64) *Operation {
	q := &c.ops[dir]
	i, ok := q.byID[id]
	for ok && q.slots[i].sent > frame {
		i = q.slots[i].older - 1
		ok = i >= 0
	}
	if !ok {
		return nil
	}
	return &q.slots[i]
}

// giveUpBefore gives up the operations with the ID of another one that are older than it.
func (c *conn) giveUpBefore(dir trace.Dir, i int32) {
	for o := &c.ops[dir].slots[i]; o.older > 0; {
		c.giveUp(dir, o.older-1)
	}
}

func (c *conn) giveUp(dir trace.Dir, i int32) {
	c.layer.Unanswered++
	c.remove(dir, i)
}

// took is the time until now in nanoseconds, -1 if it is not known: frames without a time, or clocks that differ.
func (o *Operation) took(now int64) int64 {
	if ns, known := trace.Between(o.time, now); known && now >= o.time {
		return ns
	}
	return -1
}

// appendTook appends the time until now, if it is known.
func (o *Operation) appendTook(b []byte, now int64) []byte {
	if took := o.took(now); took >= 0 {
		return appendDuration(append(b, ", "...), took)
	}
	return b
}

// end counts an operation that was answered, and forgets it. Its latency is -1 if it is not known, or not yet.
func (c *conn) end(dir trace.Dir, o *Operation, latency int64, failed bool) {
	t := c.tally(o.Name)
	t.Count++
	if latency >= 0 {
		t.Latency.Add(latency)
	}
	if failed {
		t.Errors++
	}
	i := c.ops[dir].at(o.ID, o.order)
	c.giveUpBefore(dir, i)
	c.remove(dir, i)
}

func (c *conn) tally(name string) *trace.UpperTally {
	all := c.layer.Operations
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	if len(all) >= maxNames {
		return &all[len(all)-1]
	}
	if len(all) == maxNames-1 {
		name = "other"
	}
	c.layer.Operations = append(all, trace.UpperTally{Name: name})
	return &c.layer.Operations[len(all)]
}

func (c *conn) remove(dir trace.Dir, i int32) {
	q := &c.ops[dir]
	o := &q.slots[i]
	for g := o.grants; g > 0; {
		d := trace.Dir(g >> 16 & 1)
		at := g&0xffff - 1
		next := c.ops[d].grants[at].ofOp
		c.ops[d].revoke(at)
		g = next
	}
	q.unlink(i)
	*o = Operation{}
	q.free = append(q.free, i)
	c.layer.Outstanding--
}

// unlink takes an operation out of those with its ID.
func (q *operations) unlink(i int32) {
	o := &q.slots[i]
	newer := q.byID[o.ID]
	switch {
	case newer != i:
		for q.slots[newer].older != i+1 {
			newer = q.slots[newer].older - 1
		}
		q.slots[newer].older = o.older
	case o.older > 0:
		q.byID[o.ID] = o.older - 1
	default:
		delete(q.byID, o.ID)
	}
}

// ref refers to an operation of either side.
func (c *conn) ref(o *Operation) (opRef, bool) {
	for d := range c.ops {
		if i := c.ops[d].at(o.ID, o.order); i >= 0 {
			return opRef{trace.Dir(d), i, o.order}, true
		}
	}
	return opRef{}, false
}

// of returns the operation that is referred to, or nil if it has ended.
func (c *conn) of(r opRef) *Operation {
	if o := &c.ops[r.dir].slots[r.slot]; o.used && o.order == r.order {
		return o
	}
	return nil
}

// grant notes memory that a side announced.
func (c *conn) grant(dir trace.Dir, o *Operation, stag uint32, base, length uint64) {
	r, ok := c.ref(o)
	q := &c.ops[dir]
	var i int32
	switch n := len(q.spare); {
	case !ok:
		return
	case n > 0:
		i, q.spare = q.spare[n-1], q.spare[:n-1]
	case len(q.grants) >= maxGrants:
		return
	default:
		i = int32(len(q.grants)) //nolint:gosec // at most maxGrants
		q.grants = append(q.grants, grant{})
	}
	if q.byTag == nil {
		q.byTag = map[uint32]int32{}
	}
	live := c.of(r)
	q.grants[i] = grant{stag: stag, base: base, length: length, op: r, next: q.byTag[stag], ofOp: live.grants}
	q.byTag[stag] = i + 1
	live.grants = i + 1 | int32(dir)<<16
}

// revoke forgets a grant.
func (q *operations) revoke(i int32) {
	stag := q.grants[i].stag
	at := q.byTag[stag]
	if at == i+1 {
		if next := q.grants[i].next; next != 0 {
			q.byTag[stag] = next
		} else {
			delete(q.byTag, stag)
		}
	} else {
		for at != 0 && q.grants[at-1].next != i+1 {
			at = q.grants[at-1].next
		}
		if at != 0 {
			q.grants[at-1].next = q.grants[i].next
		}
	}
	q.grants[i] = grant{}
	q.spare = append(q.spare, i)
}

// within reports whether a place lies in memory that was announced. The end counts: an
// operation of no octets touches it.
func (g *grant) within(to uint64) bool {
	return g.length == 0 && to >= g.base || to >= g.base && to-g.base <= g.length
}

// granted returns the operation for which a side had announced the place by a frame.
func (c *conn) granted(dir trace.Dir, stag uint32, to, frame uint64) (opRef, *Operation) {
	q := &c.ops[dir]
	for i := q.byTag[stag]; i != 0; i = q.grants[i-1].next {
		if g := &q.grants[i-1]; g.within(to) {
			if o := c.of(g.op); o != nil && o.sent <= frame {
				return g.op, o
			}
		}
	}
	return opRef{}, nil
}
