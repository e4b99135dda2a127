package startup_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
)

// What is no Request is refused by whoever is strict, and read as one by others.
func TestMachine_Strict(t *testing.T) {
	good := mpa.Startup{Kind: mpa.StartupRequest, Rev: 1}
	word := mpa.Startup{Kind: mpa.StartupRequest, S: true, Rev: 2, PDLength: 4, PrivateData: make([]byte, 4)}
	enhanced := startup.Config{Rev: 2, Dialect: startup.Enhanced}
	for _, tt := range []struct {
		name   string
		cfg    startup.Config
		frame  mpa.Startup
		change func(*mpa.Startup)
	}{
		{"key", startup.Config{Rev: 1}, good, func(s *mpa.Startup) { s.Kind, s.Key = mpa.StartupUnknown, [16]byte{'x'} }},
		{"a Reply", startup.Config{Rev: 1}, good, func(s *mpa.Startup) { s.Kind = mpa.StartupReply }},
		{"revision", startup.Config{Rev: 1}, good, func(s *mpa.Startup) { s.Rev = 9 }},
		{"revision 3", enhanced, word, func(s *mpa.Startup) { s.Rev = 3 }},
		{"private data", startup.Config{Rev: 1}, good, func(s *mpa.Startup) { s.PDLength, s.PrivateData = 513, make([]byte, 513) }},
		{"no word", enhanced, word, func(s *mpa.Startup) { s.PDLength, s.PrivateData = 3, make([]byte, 3) }},
		{"word not known", startup.Config{Rev: 2}, word, func(*mpa.Startup) {}},
	} {
		s := tt.frame
		tt.change(&s)
		for _, strict := range []bool{true, false} {
			tt.cfg.Strict = strict
			m := startup.New(tt.cfg)
			_, answer := m.Receive(s.Append(nil))
			want := startup.Done
			if strict {
				want = startup.Failed
			}
			if m.State() != want || (answer != nil) == strict {
				t.Errorf("%s, strict %v: state %d", tt.name, strict, m.State())
			}
			if n, again := m.Receive([]byte("more")); n != 0 || again != nil {
				t.Errorf("%s, strict %v: it takes %d octets more", tt.name, strict, n)
			}
		}
	}
	for name, ok := range map[string]mpa.Startup{
		"512 octets":    {Kind: mpa.StartupRequest, Rev: 1, PDLength: 512, PrivateData: make([]byte, 512)},
		"reserved bits": {Kind: mpa.StartupRequest, Rev: 1, Res: 15, R: true, S: true},
	} {
		m := startup.New(startup.Config{Rev: 1, Strict: true})
		if _, answer := m.Receive(ok.Append(nil)); answer == nil || m.State() != startup.Done {
			t.Errorf("%s: state %d", name, m.State())
		}
	}
}

// An initiator that speaks one version only does not go on with another one
// (RFC 5044 appendix C.2.1, RFC 6581 section 10).
func TestMachine_StrictInitiator(t *testing.T) {
	for name, tt := range map[string]struct {
		cfg   startup.Config
		reply mpa.Startup
	}{
		"an RDMA Consortium's, revision 1":  {startup.Config{}, mpa.Startup{Kind: mpa.StartupReply, Rev: 1}},
		"revision 1, revision 2":            {startup.Config{Rev: 1}, mpa.Startup{Kind: mpa.StartupReply, Rev: 2}},
		"a Request":                         {startup.Config{Rev: 1}, mpa.Startup{Kind: mpa.StartupRequest, Rev: 1}},
		"revision 2 without the word, with": {startup.Config{Rev: 2}, mpa.Startup{Kind: mpa.StartupReply, Rev: 2, S: true, PDLength: 4, PrivateData: make([]byte, 4)}},
		"enhanced, no room for the word":    {startup.Config{Rev: 2, Dialect: startup.Enhanced}, mpa.Startup{Kind: mpa.StartupReply, Rev: 2, S: true}},
	} {
		tt.cfg.Initiator, tt.cfg.Strict = true, true
		m := startup.New(tt.cfg)
		m.Start()
		m.Receive(tt.reply.Append(nil))
		if _, due := m.Terminate(); m.State() != startup.Failed || due {
			t.Errorf("%s: state %d, Terminate %v", name, m.State(), due)
		}
	}
}

// The private data of a result is a copy; more of it than a frame can announce
// is not sent.
func TestMachine_PrivateData(t *testing.T) {
	in := mpa.Startup{Kind: mpa.StartupRequest, Rev: 1, PDLength: 2, PrivateData: []byte("hi")}.Append(nil)
	m := startup.New(startup.Config{Rev: 1, Private: make([]byte, 70000)})
	_, reply := m.Receive(in)
	clear(in)
	if got := string(m.Result().Request.PrivateData); got != "hi" {
		t.Errorf("private data %q", got)
	}
	if reply.PDLength != 65535 || len(reply.PrivateData) != 65535 {
		t.Errorf("%d octets announced, %d sent", reply.PDLength, len(reply.PrivateData))
	}
}
