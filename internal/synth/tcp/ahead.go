package tcp

import (
	"unsafe"

	"github.com/iwdissect/iwdissect/internal/prefetch"
)

// Foresee has what the next segment will need brought into the caches of the processor, but for
// the socket itself.
func (s *Socket) Foresee() {
	prefetch.Object(unsafe.SliceData(s.sent[s.base:]))
	prefetch.Tail(s.sent)
	prefetch.Tail(s.ready)
	prefetch.Object(unsafe.SliceData(s.chunks[s.first:]))
	prefetch.Tail(s.chunks)
}
