package dataset

// Schema is the version of the tables and of the manifest.
const Schema = "iwdissect-tables/1"

// Table is the name of a table, and of its folder.
type Table string

// The tables.
const (
	Connections  Table = "connections"
	Findings     Table = "findings"
	Transactions Table = "transactions"
	PDUs         Table = "pdus"
	Diagnoses    Table = "diagnoses"
)

// Tables are all of them.
var Tables = []Table{Connections, Findings, Transactions, PDUs, Diagnoses}

// Connection is a row of connections: a TCP connection with iWARP, or a DDP stream session over
// SCTP. Members that are pointers, and texts, are null where nothing is known.
type Connection struct {
	Shard         int32  `parquet:"shard,dict"`
	Conn          int64  `parquet:"conn,delta"`
	Transport     string `parquet:"transport,dict"`
	Association   *int64 `parquet:"association,optional"`
	SID           *int32 `parquet:"sid,optional"`
	Initiator     string `parquet:"initiator,dict"`
	InitiatorPort int32  `parquet:"initiator_port"`
	Responder     string `parquet:"responder,dict"`
	ResponderPort int32  `parquet:"responder_port"`
	Roles         string `parquet:"roles,dict"`
	// StartCaptured: the SYN, or the Initiate of the session, is in the capture.
	StartCaptured bool   `parquet:"start_captured"`
	FirstFrame    int64  `parquet:"first_frame"`
	LastFrame     int64  `parquet:"last_frame"`
	FirstTime     int64  `parquet:"first_time,optional,timestamp(nanosecond:utc)"`
	LastTime      int64  `parquet:"last_time,optional,timestamp(nanosecond:utc)"`
	Startup       string `parquet:"startup,dict"`
	Revision      *int32 `parquet:"mpa_revision,optional"`
	CRC           *bool  `parquet:"crc,optional"`
	MarkersI2R    *bool  `parquet:"markers_i2r,optional"`
	MarkersR2I    *bool  `parquet:"markers_r2i,optional"`
	InitiatorIRD  *int32 `parquet:"initiator_ird,optional"`
	InitiatorORD  *int32 `parquet:"initiator_ord,optional"`
	ResponderIRD  *int32 `parquet:"responder_ird,optional"`
	ResponderORD  *int32 `parquet:"responder_ord,optional"`
	DepthI2R      *int32 `parquet:"read_depth_i2r,optional"`
	DepthR2I      *int32 `parquet:"read_depth_r2i,optional"`
	InitiatorRNIC string `parquet:"initiator_rnic,optional,dict"`
	ResponderRNIC string `parquet:"responder_rnic,optional,dict"`
	UpperLayer    string `parquet:"upper_layer,optional,dict"`
	End           string `parquet:"end,dict"`
	EndBy         string `parquet:"end_by,optional,dict"`
	EndFrame      *int64 `parquet:"end_frame,optional"`
	EndedEarly    bool   `parquet:"ended_early"`
	TerminateI2R  string `parquet:"terminate_i2r,optional"`
	TerminateR2I  string `parquet:"terminate_r2i,optional"`
	// Of StartupNS to the latencies all are in nanoseconds.
	StartupNS *int64 `parquet:"startup_ns,optional"`
	ReadLatency
	AtomicLatency
	FlowI2R
	FlowR2I
	// Errors, Warnings and Notes count findings; null if no rules were asked.
	Errors   *int64 `parquet:"errors,optional"`
	Warnings *int64 `parquet:"warnings,optional"`
	Notes    *int64 `parquet:"notes,optional"`
}

// Finding is a row of findings: a rule that was broken on a connection.
type Finding struct {
	Shard         int32  `parquet:"shard,dict"`
	Conn          int64  `parquet:"conn"`
	Rule          string `parquet:"rule,dict"`
	Severity      string `parquet:"severity,dict"`
	Layer         string `parquet:"layer,dict"`
	Spec          string `parquet:"spec,dict"`
	Section       string `parquet:"section,optional,dict"`
	Dir           string `parquet:"dir,optional,dict"`
	Frame         int64  `parquet:"frame"`
	PDU           *int64 `parquet:"pdu,optional"`
	Offset        *int64 `parquet:"offset,optional"`
	Transport     string `parquet:"transport,dict"`
	Initiator     string `parquet:"initiator,dict"`
	InitiatorPort int32  `parquet:"initiator_port"`
	Responder     string `parquet:"responder,dict"`
	ResponderPort int32  `parquet:"responder_port"`
	Message       string `parquet:"message,dict"`
	Observed      string `parquet:"observed,optional"`
	Expected      string `parquet:"expected,optional"`
	// Times is how many findings it stands for: of very many on a connection only the first
	// are listed.
	Times int64 `parquet:"times"`
	// Known and Suppressed are what the baseline and the configuration of check decided.
	Known      bool   `parquet:"known"`
	Suppressed string `parquet:"suppressed,optional,dict"`
	// SourceFile and SourceFrame are where the frame came from, of several files.
	SourceFile  string `parquet:"source_file,optional,dict"`
	SourceFrame *int64 `parquet:"source_frame,optional"`
}

// Transaction is a row of transactions: a request with its answer.
type Transaction struct {
	Shard int32  `parquet:"shard,dict"`
	Conn  int64  `parquet:"conn,dict"`
	Kind  string `parquet:"kind,dict"`
	Dir   string `parquet:"dir,optional,dict"`
	Frame int64  `parquet:"frame,delta"`
	// Time is that of the frame.
	Time      int64  `parquet:"time,optional,delta,timestamp(nanosecond:utc)"`
	Request   int64  `parquet:"request_pdu,delta"`
	Responses int64  `parquet:"response_pdus"`
	Bytes     int64  `parquet:"bytes"`
	First     *int64 `parquet:"latency_first_ns,optional"`
	Last      *int64 `parquet:"latency_ns,optional"`
}

// PDU is a row of pdus.
type PDU struct {
	Shard  int32  `parquet:"shard,dict"`
	PDU    int64  `parquet:"pdu,delta"`
	Conn   int64  `parquet:"conn,dict"`
	Frame  int64  `parquet:"frame,delta"`
	Time   int64  `parquet:"time,optional,delta,timestamp(nanosecond:utc)"`
	Dir    string `parquet:"dir,dict"`
	Kind   string `parquet:"kind,dict"`
	Opcode string `parquet:"opcode,optional,dict"`
	Offset *int64 `parquet:"offset,optional"`
	Length int64  `parquet:"length"`
	CRC    string `parquet:"crc,optional,dict"`
	Last   *bool  `parquet:"last,optional"`
	QN     *int64 `parquet:"qn,optional,dict"`
	MSN    *int64 `parquet:"msn,optional"`
	MO     *int64 `parquet:"mo,optional"`
	STag   *int64 `parquet:"stag,optional,dict"`
	// TO needs all of its 64 bits.
	TO *uint64 `parquet:"to,optional"`
}

// Diagnosis is a row of diagnoses: what went wrong, in sentences. Connections with the same
// problem share one.
type Diagnosis struct {
	Shard    int32  `parquet:"shard,dict"`
	Kind     string `parquet:"kind,dict"`
	Severity string `parquet:"severity,dict"`
	Dir      string `parquet:"dir,optional,dict"`
	// Conn is the first of the connections; null: it is about the whole capture.
	Conn        *int64 `parquet:"conn,optional"`
	Connections int64  `parquet:"connections"`
	Frame       *int64 `parquet:"frame,optional"`
	Title       string `parquet:"title"`
	Text        string `parquet:"text"`
	Advice      string `parquet:"advice,optional"`
	// Rules are ids, with a space between them. Decided are those of which all findings are known or suppressed, and Known says that no
	// others show it. Tables of older versions have neither.
	Rules   string `parquet:"rules,optional"`
	Decided string `parquet:"decided_rules,optional"`
	Known   bool   `parquet:"known"`
}
