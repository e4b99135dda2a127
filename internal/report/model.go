package report

// Report is what the page shows.
type Report struct {
	// Tool is the program and its version.
	Tool     string
	Captures []*Capture
}

// Capture is one capture.
type Capture struct {
	File, Format string
	// Failures are errors of reading it, Notes what the page does not have of it, and why.
	Failures, Notes []string `json:",omitempty"`
	// Facts are its totals, Operations those of all connections.
	Facts      []Fact
	Operations []Operation `json:",omitempty"`
	Diagnoses  []Diagnosis `json:",omitempty"`
	// Connections are all that carry iWARP, as far as there is room.
	Connections []Row     `json:",omitempty"`
	Details     []*Detail `json:",omitempty"`
}

// Fact is a name with its value.
type Fact struct{ Name, Value string }

// Operation counts the messages of an opcode in a direction.
type Operation struct {
	Dir, Name                                     string
	Messages, Segments, Octets, Least, Mean, Most uint64
}

// Diagnosis is a problem in sentences.
type Diagnosis struct {
	Level, Kind, Means, Title, Text string
	Also                            []string `json:",omitempty"`
	Advice                          string   `json:",omitempty"`
	// Conns are the first connections that have it, Of is how many there are.
	Conns  []Link   `json:",omitempty"`
	Of     int      `json:",omitempty"`
	Frames []uint64 `json:",omitempty"`
	Rules  []string `json:",omitempty"`
}

// Link is a connection, and its place in the page if it has one.
type Link struct {
	Conn uint64
	At   string `json:",omitempty"`
}

// Row is a connection in the table of all.
type Row struct {
	Conn                 uint64
	Initiator, Responder string
	// Carries is the upper layer, "" if it is not known.
	Carries         string `json:",omitempty"`
	Transport       string
	Startup, Ending string
	// FPDUs are over SCTP the chunks with segments of DDP, octets the payload of all packets.
	FPDUs, Octets uint64
	// Lasted is in nanoseconds, -1 if it is not known. So is Slow, the 99th percentile of the
	// latency of Reads; it is 0 if there were none.
	Lasted, Slow            int64
	Retransmitted, Gaps     uint64
	Errors, Warnings, Notes int
	Detailed                bool `json:",omitempty"`
}

// Detail is a connection that is looked at closely.
type Detail struct {
	Conn uint64
	// At is its place in the page.
	At                   string
	Initiator, Responder string
	// Level is the worst that is said of it, Titles that of each diagnosis.
	Level      string   `json:",omitempty"`
	Titles     []string `json:",omitempty"`
	Facts      []Fact
	Operations []Operation `json:",omitempty"`
	Ladder     Ladder
	Rates      Rates
	Depths     []Depth   `json:",omitempty"`
	Latencies  []Latency `json:",omitempty"`
	Sizes      []Sizes   `json:",omitempty"`
	Findings   []Finding `json:",omitempty"`
	// MoreFindings are those for which there is no room.
	MoreFindings int       `json:",omitempty"`
	Exhibits     []Exhibit `json:",omitempty"`
	// LessExhibits counts PDUs of findings for which there is no room.
	LessExhibits int `json:",omitempty"`
}

// Ladder is the sequence of a connection.
type Ladder struct {
	Rows []Step
	// Began is the time of its first frame, in nanoseconds since the Unix epoch, 0 for none.
	Began int64
}

// Step is a row of a ladder.
type Step struct {
	// Still is what is said of a time or of messages that are left out; nothing else is set
	// then.
	Still string `json:",omitempty"`
	// R2I is the direction, if Sent. At is the time since the connection began, in nanoseconds.
	Sent        bool  `json:",omitempty"`
	R2I         bool  `json:",omitempty"`
	At          int64 `json:",omitempty"`
	First, Last uint64
	Text        string   `json:",omitempty"`
	Below       []string `json:",omitempty"`
	// Link is the exhibit of its PDU, "" if it has none.
	Link string `json:",omitempty"`
	Bad  bool   `json:",omitempty"`
	Odd  bool   `json:",omitempty"`
	// Again: some of it is a retransmission. Reset: it ends the connection at once.
	Again bool `json:",omitempty"`
	Reset bool `json:",omitempty"`
	// nth counts the rows of the connection, shown or not.
	nth   uint64
	notes bool
	pdu   [2]uint64
	has   bool
}

// Rates are octets over time; there are none where it is not known how long the connection lasted.
type Rates struct {
	// Interval is the length of a slot, Lasted that of the connection, in nanoseconds.
	Interval, Lasted int64
	// Octets are those of PDUs by direction, Again the packets that were sent again.
	Octets [2][]uint64
	Again  [2][]uint64
}

// Depth is how many requests of a direction waited at once over time.
type Depth struct {
	Dir string
	// Interval and Lasted are as in [Rates].
	Interval, Lasted int64
	// Most is the largest number in each slot, Limit what was negotiated, if Known.
	Most  []int32
	Limit int  `json:",omitempty"`
	Known bool `json:",omitempty"`
	// Top is the largest number.
	Top int32
}

// Latency is how long answers took, in nanoseconds.
type Latency struct {
	Name                                     string
	Count, Least, Mean, Half, P90, P99, Most uint64
	Bins                                     []Bin
}

// Bin counts what lies from From up to, but not including, To.
type Bin struct{ From, To, Count uint64 }

// Sizes are the sizes of messages of a direction, in octets.
type Sizes struct {
	Dir  string
	Bins []Bin
}

// Finding is a violation of a rule.
type Finding struct {
	Level, Rule, Dir, Says, Source, Demands, Matters string
	Frame                                            uint64
	// Links are the PDUs that it is to be seen with.
	Links []PDULink `json:",omitempty"`
	// More is how many of the rule there are besides, which are not listed.
	More int `json:",omitempty"`
}

// PDULink is a PDU, and its place in the page if it has one.
type PDULink struct {
	PDU uint64
	At  string `json:",omitempty"`
}

// Exhibit is a PDU with all of its fields and octets.
type Exhibit struct {
	PDU  uint64
	At   string
	Text string
	// Cut is how many lines are left out.
	Cut int `json:",omitempty"`
}
