package cli

import (
	"strings"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// keeper writes the frames to a file.
type keeper struct {
	path string
	f    *outfile.Growing
	w    *pcapng.Writer
	rec  pcapng.Record
	// sole tells that the file does not tell interfaces apart.
	sole bool
}

// keptFormat is the format of a file by its name.
func keptFormat(path string) pcapng.Format {
	if strings.HasSuffix(strings.ToLower(path), ".pcapng") {
		return pcapng.PCAPNG
	}
	return pcapng.PCAP
}

// newKeeper makes the file and writes its header at once, so that programs
// that follow the file can start to read. fresh tells that no file may be there
// yet; otherwise it is replaced, unless it is one of the inputs.
func newKeeper(path string, fresh bool, inputs []string, ifaces []pcapng.Interface) (k *keeper, err error) {
	k = &keeper{path: path}
	if fresh {
		k.f, err = outfile.GrowNew(path)
	} else {
		k.f, err = outfile.Grow(path, inputs)
	}
	if err != nil {
		return nil, err
	}
	if err = k.start(ifaces); err == nil {
		err = k.f.Show()
	}
	if err != nil {
		_ = k.f.Discard() // the first error is the one to report
		return nil, err
	}
	return k, nil
}

func (k *keeper) start(ifaces []pcapng.Interface) error {
	opt := pcapng.WriterOptions{Link: ifaces[0].Link, SnapLen: ifaces[0].SnapLen, Nano: true, Format: keptFormat(k.path)}
	k.sole = opt.Format == pcapng.PCAP
	if !k.sole {
		opt.Application = "iwdissect " + Version
	}
	var err error
	if k.w, err = pcapng.NewWriter(k.f, opt); err != nil {
		return err
	}
	if k.sole {
		ifaces = nil
	}
	for _, i := range ifaces {
		if _, err = k.w.AddInterface(i); err != nil {
			return err
		}
	}
	return k.w.Flush()
}

func (k *keeper) frame(f *capture.Frame) error {
	k.rec.Data, k.rec.Time, k.rec.OrigLen, k.rec.Link = f.Data, f.Time, f.OrigLen, f.Link
	if !k.sole {
		k.rec.Interface = f.Interface
	}
	err := k.w.WritePacket(&k.rec)
	k.f.Ends(k.w.Size())
	return err
}

func (k *keeper) flush() error { return k.w.Flush() }

func (k *keeper) close() error {
	err := k.w.Flush()
	if cerr := k.f.Close(); err == nil {
		err = cerr
	}
	return err
}
