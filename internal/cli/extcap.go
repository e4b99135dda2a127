package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/iwdissect/iwdissect/internal/bpf"
	"github.com/iwdissect/iwdissect/internal/extcap"
	"github.com/iwdissect/iwdissect/internal/live"
	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// The interfaces as Wireshark knows them: a value for programs and a text for people. A name of the
// system stands behind a dash, so that none can be that of the file.
const (
	extcapLive     = "iwdissect-"
	extcapFromFile = "iwdissect.file"
	extcapTitle    = "iwdissect: "
)

// extcapHelp is opened by the help button of Wireshark's dialog.
const extcapHelp = "https://github.com/iwdissect/iwdissect/blob/main/docs/extcap.md"

// answerWireshark answers a call of Wireshark, without the commands: it makes one for each
// interface when it starts, and waits for the answers.
func answerWireshark(ctx context.Context, s *IOStreams, args []string) int {
	call, err := extcap.Parse(args, extcapAllOptions)
	if err != nil {
		err = &usageError{err}
	} else {
		err = answer(ctx, s, call)
	}
	if err != nil && !errors.Is(err, errReported) {
		s.warn(err)
	}
	return exitCode(err)
}

func answer(ctx context.Context, s *IOStreams, call *extcap.Call) error {
	about := extcap.About{Version: Version, Help: extcapHelp}
	var from extcapFrom
	if call.Interface != "" {
		var err error
		if from, err = extcapSource(call.Interface); err != nil {
			return err
		}
	}
	switch call.Ask {
	case extcap.AskInterfaces:
		list, err := extcapInterfaces()
		if err != nil {
			return err
		}
		return extcap.WriteInterfaces(s.Out, about, list)
	case extcap.AskVersion:
		return extcap.WriteVersion(s.Out, about)
	case extcap.AskLinkTypes:
		l, err := from.linkType()
		if err != nil {
			return err
		}
		return extcap.WriteLinkType(s.Out, l)
	case extcap.AskConfig:
		return extcap.WriteConfig(s.Out, from.options(), call.Reload)
	case extcap.AskFilter:
		return from.verify(s.Out, call.Filter)
	case extcap.AskCapture:
		return from.capture(ctx, s, call)
	case extcap.AskCleanup: // a capture leaves nothing behind
	}
	return nil
}

// extcapInterfaces are those that can be captured from.
func extcapInterfaces() ([]extcap.Interface, error) {
	list := []extcap.Interface{}
	if live.Supported {
		found, err := live.Interfaces()
		if err != nil {
			return nil, err
		}
		for i := range found {
			if found[i].Up {
				list = append(list, extcap.Interface{Value: extcapLive + extcap.Encode(found[i].Name), Display: extcapTitle + found[i].Name})
			}
		}
		list = append(list, extcap.Interface{Value: extcapLive + live.AnyInterface, Display: extcapTitle + live.AnyInterface})
	}
	return append(list, extcap.Interface{Value: extcapFromFile, Display: extcapTitle + "capture file"}), nil
}

// extcapFrom is where packets come from: an interface, or a file.
type extcapFrom struct{ iface string }

// extcapSource finds it by the value that the list has.
func extcapSource(value string) (from extcapFrom, err error) {
	if value == extcapFromFile {
		return from, nil
	}
	name, ok := strings.CutPrefix(value, extcapLive)
	if ok {
		from.iface, err = extcap.Decode(name)
	}
	if !ok || err != nil || from.iface == "" {
		return from, usagef("%s is no interface of iwdissect: --extcap-interfaces lists them", value)
	}
	return from, nil
}

// linkTypesOfPcap are the numbers of libpcap (DLT_*) where they are not those of files.
var linkTypesOfPcap = map[uint16]extcap.LinkType{
	live.LinkEthernet: {Number: 1, Name: "EN10MB", Display: "Ethernet"},
	live.LinkRaw:      {Number: 12, Name: "RAW", Display: "Raw IP"},
	live.LinkLinuxSLL: {Number: 113, Name: "LINUX_SLL", Display: "Linux cooked-mode capture v1"},
}

func (f extcapFrom) linkType() (extcap.LinkType, error) {
	switch f.iface {
	case "": // what Wireshark takes for a type that it does not know before it captures
		return extcap.LinkType{Number: 147, Name: "USER0", Display: "as in the file"}, nil
	case live.AnyInterface:
		return linkTypesOfPcap[live.LinkLinuxSLL], nil
	}
	list, err := live.Interfaces()
	if err != nil {
		return extcap.LinkType{}, err
	}
	for i := range list {
		if list[i].Name == f.iface {
			return linkTypesOfPcap[list[i].LinkType()], nil
		}
	}
	return extcap.LinkType{}, fmt.Errorf("there is no interface %s any more", visible.Text(f.iface))
}

func (f extcapFrom) options() []extcap.Option {
	if f.iface == "" {
		return extcapFileOptions
	}
	return extcapLiveOptions
}

// verify writes what is wrong with a capture filter, nothing if it can be used.
func (f extcapFrom) verify(w io.Writer, filter string) error {
	if f.iface == "" {
		if filter == "" {
			return nil
		}
		_, err := fmt.Fprintln(w, "a file is read without a capture filter; a display filter shows what matches")
		return err
	}
	if _, err := bpf.Parse(filter); err != nil {
		line, _, _ := strings.Cut(visible.Error(err), "\n")
		_, err = fmt.Fprintln(w, line)
		return err
	}
	return nil
}

// capture writes packets until the end of the file, or until Wireshark wants no more.
func (f extcapFrom) capture(ctx context.Context, s *IOStreams, call *extcap.Call) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	if !outfile.IsPipe(call.Pipe) {
		if f.iface == "" {
			s.reads(call.Value(&extcapFile))
		}
		out, err := s.create(call.Pipe)
		if err != nil {
			return err
		}
		to := *s
		to.Out, to.OutTTY = out, false
		if err := f.captureTo(ctx, &to, call); err != nil {
			return errors.Join(err, out.Discard())
		}
		return out.Commit()
	}
	pipe, err := outfile.Pipe(ctx, call.Pipe)
	switch {
	case ctx.Err() != nil:
		return nil // Wireshark has changed its mind
	case err != nil:
		return err
	}
	defer pipe.Close() //nolint:errcheck // what could not be written was told
	// Who reads the pipe may have stopped reading before it says so.
	expire := context.AfterFunc(ctx, func() { _ = pipe.SetWriteDeadline(time.Now().Add(lastWords)) })
	defer expire()
	to := *s
	to.Out, to.OutTTY = unlessUnread{pipe}, false
	return f.captureTo(ctx, &to, call)
}

// lastWords is how long writing to the pipe may take when the capture has ended.
const lastWords = time.Second

// unlessUnread is a pipe that fails as one without a reader if the time to write is over.
type unlessUnread struct{ *os.File }

func (p unlessUnread) Write(b []byte) (int, error) {
	n, err := p.File.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = syscall.EPIPE
	}
	return n, err
}

// unread reports whether nobody reads any more.
func (p unlessUnread) unread() bool { return extcap.Unread(p.File) }

func (f extcapFrom) captureTo(ctx context.Context, s *IOStreams, call *extcap.Call) error {
	if f.iface == "" {
		return annotateForWireshark(s, call)
	}
	return captureForWireshark(ctx, newLiveOptions(s), f.iface, call)
}
