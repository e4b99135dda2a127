package reassembly

import "unsafe"

// Weight is the memory that the direction keeps, in octets, besides what [Budget.Used] counts.
func (h *Direction) Weight() int {
	n := cap(h.deliveries()) * int(unsafe.Sizeof(delivery{}))
	d := h.dis
	if d == nil {
		return n
	}
	carriers := cap(d.pending) + cap(d.sorted) + cap(d.late)
	return n + int(unsafe.Sizeof(*d)) + carriers*int(unsafe.Sizeof(carried{})) + len(d.held.dir)*int(unsafe.Sizeof(block{}))
}
