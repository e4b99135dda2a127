package pipeline

import (
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
)

// Shard is [packet.Shard].
type Shard = packet.Shard

// mine reports whether a frame that was decoded is in the shard of the run. A fragment is in the
// first one, and the datagram, with the frame that completes it, where its ports are: so each run
// puts fragments together.
func (r *Run) mine(status packet.Status, p *packet.Packet) bool {
	if status == packet.OK {
		return r.opt.Shard.Has(p)
	}
	return r.opt.Shard.First()
}

// passOver takes note of a frame of another shard.
func (r *Run) passOver(number uint64, time int64) {
	if r.opt.Saw != nil {
		r.opt.Saw(number, time)
	}
	r.pass(time)
}

// pass counts a frame of another shard. The capture begins and ends where it does for all shards.
func (r *Run) pass(time int64) {
	r.elsewhere++
	r.totals.at(time)
	r.latest = max(r.latest, time)
}

// giveBack counts a frame, which was counted among those of this shard, with those of others.
func (r *Run) giveBack(f *capture.Frame) {
	t := &r.totals
	t.Frames--
	t.Octets -= uint64(f.OrigLen)
	t.Captured -= uint64(len(f.Data))
	if len(f.Data) < int(f.OrigLen) {
		t.Cut--
	}
	r.pass(f.Moment())
}
