package ahead

import (
	"testing"
	"time"
)

const ms = int64(time.Millisecond)

func TestMeasure_ConstantOffset(t *testing.T) {
	var m Measure
	m.Acknowledged(0, 100, 1*ms, 1)
	m.Acknowledged(100, 200, 2*ms, 2)
	m.Behind(100, 31*ms, 3)
	m.Acknowledged(200, 300, 32*ms, 4)
	m.Behind(200, 33*ms, 5) // frame 2 acknowledged it
	m.Behind(300, 64*ms, 6)
	if l, ok := m.Lead(); !ok || l != (Lead{By: 32 * ms, Ack: 4, Data: 6}) {
		t.Errorf("%+v, %v", l, ok)
	}
}

func TestMeasure_ShowsNothing(t *testing.T) {
	for name, notes := range map[string]func(*Measure){
		"a packet that the capture missed, sent again": func(m *Measure) {
			m.Acknowledged(0, 100, 1*ms, 1)
			m.Behind(100, 201*ms, 2)
		},
		"two among many": func(m *Measure) {
			for i := range int64(2) {
				m.Acknowledged(100*i, 100*(i+1), 300*i+1*ms, 1)
				m.Behind(100*(i+1), 300*i+201*ms, 2)
				m.InTime()
			}
			m.InTime()
		},
		"queues of one capture": func(m *Measure) {
			for i := range int64(9) {
				m.Acknowledged(100*i, 100*(i+1), 10*i*ms+1, 1)
				m.Behind(100*(i+1), (10*i+2)*ms, 2)
			}
		},
		"no times": func(m *Measure) {
			for i := range int64(9) {
				m.Acknowledged(100*i, 100*(i+1), 0, 1)
				m.Behind(100*(i+1), 0, 2)
			}
		},
		"a clock that went back": func(m *Measure) {
			for i := range int64(9) {
				m.Acknowledged(100*i, 100*(i+1), 50*ms, 1)
				m.Behind(100*(i+1), 2*ms, 2)
			}
		},
	} {
		var m Measure
		notes(&m)
		if l, ok := m.Lead(); ok {
			t.Errorf("%s: %+v", name, l)
		}
	}
}
