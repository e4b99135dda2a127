package pcapng

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/tracetest/processor"
)

// TestPcap_Damage: one damaged record never hides the others.
func TestPcap_Damage(t *testing.T) {
	for _, v := range variants[:4] {
		for _, c := range []struct {
			name string
			at   int // which of the ten records
			incl uint32
		}{
			{"4 GiB", 3, math.MaxUint32},
			{"just above the limit", 3, usualLimit + 1},
			{"first record", 0, 1 << 30},
			{"last but one", 8, 1 << 30},
			{"last but two", 7, 1 << 30},
			{"below the limit, file ends", 3, 200_000},
		} {
			t.Run(v.name+" "+c.name, func(t *testing.T) {
				recs := randomRecords(7, v.opt, 10)
				for i := range recs {
					recs[i].Data = append(recs[i].Data, "not empty"...)
					recs[i].OrigLen += 9
				}
				file := write(t, v.opt, recs)
				all, _ := readAll(bytes.NewReader(file), false)
				order(v.opt).PutUint32(file[all[c.at].Pos+8:], c.incl)
				got, errs := readAll(bytes.NewReader(file), false)
				var e *Error
				if len(errs) != 1 || !errors.As(errs[0], &e) {
					t.Fatal(errs)
				}
				if e.Pos != all[c.at].Pos || e.Frame != uint64(c.at+1) || !e.Resume || e.Code != CodeLength ||
					e.Skipped != int64(recordLen+len(recs[c.at].Data)) || !strings.Contains(e.Error(), fmt.Sprint("claims ", c.incl)) {
					t.Errorf("%+v", e)
				}
				if len(got) != 9 || got[8].Number != 10 || !bytes.Equal(got[8].Data, recs[9].Data) && c.at != 9 {
					t.Errorf("%d records", len(got))
				}
			})
		}
	}
}

// TestPcap_DamagedLast: nothing follows, so the error is final.
func TestPcap_DamagedLast(t *testing.T) {
	opt := WriterOptions{Link: Ethernet}
	file := write(t, opt, randomRecords(7, opt, 4))
	all, _ := readAll(bytes.NewReader(file), false)
	order(opt).PutUint32(file[all[3].Pos+8:], 1<<31)
	got, errs := readAll(bytes.NewReader(file), false)
	var e *Error
	if len(got) != 3 || len(errs) != 1 || !errors.As(errs[0], &e) || e.Resume || e.Frame != 4 {
		t.Error(len(got), errs)
	}
}

// TestPcap_CaptureInACapture: a cut packet that carries a capture file is a
// cut packet.
func TestPcap_CaptureInACapture(t *testing.T) {
	opt := WriterOptions{Link: Ethernet}
	inner := write(t, opt, randomRecords(7, opt, 5))
	file := write(t, opt, []Record{{Data: append(inner, "more"...), Link: Ethernet, Time: 1_600_000_000e9}})
	got, errs := readAll(bytes.NewReader(file[:len(file)-4]), false)
	if len(got) != 0 || len(errs) != 1 {
		t.Error(got, errs)
	}
}

// TestPcap_CapturedMoreThanSent: some writers do that, and it is no damage.
func TestPcap_CapturedMoreThanSent(t *testing.T) {
	opt := WriterOptions{Link: Ethernet, SnapLen: 2}
	recs := randomRecords(7, WriterOptions{Link: Ethernet}, 20)
	for i := range recs {
		recs[i].OrigLen = 1
	}
	got, errs := readAll(bytes.NewReader(write(t, opt, recs)), false)
	if len(got) != 20 || len(errs) != 0 {
		t.Error(len(got), errs)
	}
}

// TestPcap_SwallowingRecord: a damaged length that stays below every bound
// does not swallow the records inside it.
func TestPcap_SwallowingRecord(t *testing.T) {
	opt := WriterOptions{Link: Ethernet, SnapLen: 65535}
	recs := randomRecords(7, opt, 2000)
	for i := range recs {
		recs[i].Data = append(recs[i].Data, 1)
		recs[i].OrigLen++
	}
	file := write(t, opt, recs)
	all, _ := readAll(bytes.NewReader(file), false)
	order(opt).PutUint32(file[all[5].Pos+8:], 70_000)
	got, errs := readAll(bytes.NewReader(file), false)
	if len(got) != 1999 || len(errs) != 1 {
		t.Error(len(got), errs)
	}
}

// TestReader_DamageIsNotSlow: no input makes the search start over and over.
func TestReader_DamageIsNotSlow(t *testing.T) {
	opt := WriterOptions{Link: Ethernet, SnapLen: 1}
	pcap := write(t, opt, nil)
	odd := []byte{0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 7, 7}
	ng := littleNg().section().iface(Ethernet, 0)
	for name, file := range map[string][]byte{
		"pcap odd records":   append(bytes.Clone(pcap), bytes.Repeat(odd, 100_000)...),
		"pcap 0xff":          append(bytes.Clone(pcap), bytes.Repeat([]byte{0xff}, 3<<20)...),
		"pcap zeros":         append(bytes.Clone(pcap), make([]byte, 3<<20)...),
		"pcapng zeros":       append(bytes.Clone(ng.out), make([]byte, 3<<20)...),
		"pcapng block heads": append(bytes.Clone(ng.out), bytes.Repeat([]byte{6, 0, 0, 0, 36, 0, 0, 0}, 400_000)...),
		"pcapng long heads":  append(bytes.Clone(ng.out), bytes.Repeat([]byte{6, 0, 0, 0, 0, 0, 8, 0}, 400_000)...),
	} {
		var errs []error
		d := processor.Time(func() { _, errs = readAll(bytes.NewReader(file), false) })
		if d > 2*time.Second {
			t.Errorf("%s: %v, %d errors", name, d, len(errs))
		}
	}
}
