package capture

import (
	"slices"
	"sync"
)

// places remember which frames of several files came from which one. They are filled by the
// goroutine that reads, and may be asked by any other.
type places struct {
	mu   sync.Mutex
	runs []placeRun
	end  uint64 // the number of the last frame, once that is known
}

// placeRun is frames that follow each other in one file.
type placeRun struct {
	from uint64 // the number of the first
	own  uint64 // its number in its file
	file int
}

// maxPlaces bounds what is remembered: 24 MB. The frames behind it have no known place.
const maxPlaces = 1 << 20

// begin notes that frames from this number on are those of a file from its own number on.
func (p *places) begin(number, own uint64, file int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.runs) < maxPlaces {
		p.runs = append(p.runs, placeRun{number, own, file})
	}
}

// ends notes that there are no frames behind this number.
func (p *places) ends(number uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end = number
}

// last reports whether the latest run is of a file.
func (p *places) last(file int) bool {
	return len(p.runs) > 0 && p.runs[len(p.runs)-1].file == file
}

// find is the file of a frame and its number there; ok is false if that is not known.
func (p *places) find(number uint64) (file int, own uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, _ := slices.BinarySearchFunc(p.runs, number, func(r placeRun, n uint64) int {
		if r.from > n {
			return 1
		}
		return -1
	})
	if i == 0 || i == maxPlaces || p.end > 0 && number > p.end {
		return 0, 0, false
	}
	r := p.runs[i-1]
	return r.file, r.own + number - r.from, true
}
