package model

// endings are the ends of the last FPDUs of a direction. Only the latest is whole, of each there is the
// lower half, the latest first: thousands of directions have them.
type endings struct {
	latest ending
	ends   [maxEndings]uint32 // in the stream
	of     [maxEndings]uint32 // as in ending; 0: there is none
}

const maxEndings = 8

// ending is where an FPDU ends in the stream, in which frame, and how its CRC was.
type ending struct {
	End int64
	of  uint64 // the frame, above three flags
}

// The flags of an ending: there is one; the CRC field is in several segments; the CRC is right.
const (
	anEnd = 1 << iota
	splitEnd
	goodEnd
	endFlags = iota
)

func endingAt(end int64, frame uint64, split, good bool) ending {
	return ending{end, frame<<endFlags | anEnd | uint64(Bit(split))*splitEnd | uint64(Bit(good))*goodEnd} //nolint:gosec // 0 or 1
}

func (e ending) Frame() uint64 { return e.of >> endFlags }

func (e ending) Split() bool { return e.of&splitEnd != 0 }

func (e ending) Good() bool { return e.of&goodEnd != 0 }

// far is a distance between two FPDUs that follow each other, in octets and in frames times eight, from
// which on the older ones are forgotten: the lower halves of eight less far apart tell the rest.
const far = 1 << 28

// add remembers where an FPDU ends.
func (r *endings) add(e ending) {
	if !near(e.End-r.latest.End) || !near(int64(e.of-r.latest.of)) { //nolint:gosec // the sign is what is asked for
		r.of = [maxEndings]uint32{}
	}
	copy(r.ends[1:], r.ends[:])
	copy(r.of[1:], r.of[:])
	r.latest, r.ends[0], r.of[0] = e, uint32(e.End), uint32(e.of) //nolint:gosec // their lower halves
}

func near(distance int64) bool { return -far < distance && distance < far }

// upTo returns the last FPDU that ends at an offset of the stream or before it.
func (r *endings) upTo(off int64) (last ending) {
	for i, of := range r.of {
		if of == 0 {
			break
		}
		e := r.latest
		e.End -= int64(int32(uint32(e.End) - r.ends[i])) //nolint:gosec // less than 1<<31 apart
		e.of -= uint64(int64(int32(uint32(e.of) - of)))  //nolint:gosec // the same
		if e.End <= off && e.End > last.End {
			last = e
		}
	}
	return last
}
