package capture

import "github.com/iwdissect/iwdissect/internal/pcapng"

// Frame is one captured frame. In joined files its number runs on from file to file.
type Frame = pcapng.Record

// Epoch is the time 0 where 0 stands for none, as Moment of a frame says it.
const Epoch = pcapng.Epoch

// Lost counts packets that a capture lost before they were written.
type Lost = pcapng.Lost

// Source is anything that gives frames. Next returns io.EOF at the end; an
// [*Error] with Resume set tells of damage that the following call goes on
// behind. Code on the hot path uses [*File] or [*Joined] as they are.
type Source interface {
	Next(*Frame) error
	Name() string
	Close() error
}
