package rulebook

// Term is a word of the field, with what it means.
type Term struct {
	Name string `json:"term"`
	// Stands is what an abbreviation stands for.
	Stands string `json:"stands_for,omitempty"`
	// Also are other words for the same.
	Also []string `json:"also,omitempty"`
	// Says is what it means, in a few sentences; Ref is where that stands.
	Says string `json:"says"`
	Ref  string `json:"ref"`
	// See are terms that belong to it.
	See []string `json:"see,omitempty"`
}

// Terms are the words of the field, sorted by name. They are copies of one table.
func Terms() []Term { return append([]Term(nil), terms[:]...) }

var terms = [...]Term{
	{
		Name: "Aligned FPDU", Also: []string{"alignment", "header alignment"}, Ref: "RFC 5044 section 5.1", See: []string{"FPDU", "EMSS"},
		Says: "An FPDU that begins where a TCP segment begins and ends with it. A receiver can place the data of an aligned FPDU even if the segments before it are missing. Segmentation offload below MPA (GSO, TSO) breaks it.",
	},
	{
		Name: "Atomic Operation", Also: []string{"atomic", "FetchAdd", "CmpSwap", "Swap"}, Ref: "RFC 7306 section 5", See: []string{"IRD", "Atomic Response"},
		Says: "An operation that reads and changes eight octets of the memory of the peer in one step: FetchAdd adds, CmpSwap compares and exchanges, Swap exchanges. The requester gets the value from before. It shares IRD and ORD with RDMA Reads.",
	},
	{
		Name: "Atomic Response", Ref: "RFC 7306 section 5.2", See: []string{"Atomic Operation"},
		Says: "The answer to an Atomic Request. It is untagged, goes to queue 3, and carries the Request Identifier and the eight octets as they were before.",
	},
	{
		Name: "CRC", Stands: "cyclic redundancy check (CRC32c)", Also: []string{"CRC32c"}, Ref: "RFC 5044 section 4.4", See: []string{"FPDU", "Request Frame"},
		Says: "The last four octets of an FPDU: a CRC32c over its header, ULPDU, pad and markers. Either side can demand it with the C bit of its startup frame; then both use it. The field is there even if it is not used.",
	},
	{
		Name: "Data Sink", Also: []string{"sink"}, Ref: "RFC 5040 section 2.1", See: []string{"Data Source"},
		Says: "The side whose memory receives the data: the responder of an RDMA Write, the requester of an RDMA Read.",
	},
	{
		Name: "Data Source", Also: []string{"source"}, Ref: "RFC 5040 section 2.1", See: []string{"Data Sink"},
		Says: "The side whose memory the data is taken from: the requester of an RDMA Write, the responder of an RDMA Read.",
	},
	{
		Name: "DDP", Stands: "Direct Data Placement", Ref: "RFC 5041 section 1", See: []string{"RDMAP", "MPA"},
		Says: "The protocol that says where in the memory of the receiver the octets of a segment belong. The tagged model names a buffer by STag and TO, the untagged model a queue and a message. It runs over MPA on TCP, or over SCTP.",
	},
	{
		Name: "DDP-SSN", Stands: "DDP Stream Sequence Number", Also: []string{"SSN"}, Ref: "RFC 5043 section 5.2", See: []string{"Stream Session"},
		Says: "A number in front of each DDP segment over SCTP. SCTP delivers messages without order, and this number restores the order within a stream session.",
	},
	{
		Name: "EMSS", Stands: "Effective Maximum Segment Size", Ref: "RFC 5044 section 2", See: []string{"MULPDU"},
		Says: "The largest TCP payload that fits into one segment without fragmentation. MULPDU is derived from it.",
	},
	{
		Name: "Enhanced RDMA Connection Establishment", Also: []string{"enhanced", "enhanced connection establishment", "MPA v2"}, Ref: "RFC 6581 section 5", See: []string{"IRD", "ORD", "RTR", "Peer-to-Peer"},
		Says: "What revision 2 of MPA adds: with the S bit of the startup frames set, their private data begins with a word that holds IRD, ORD and the bits of the RTR. Both sides agree on read depths and on who may send first.",
	},
	{
		Name: "FPDU", Stands: "Framed Protocol Data Unit", Ref: "RFC 5044 section 4", See: []string{"ULPDU", "Marker", "CRC"},
		Says: "What MPA puts on the TCP stream: two octets with the length, one ULPDU, up to three pad octets and a CRC, with markers in between if they were negotiated.",
	},
	{
		Name: "Full Operation", Also: []string{"full operation phase"}, Ref: "RFC 5044 section 7.1", See: []string{"Startup"},
		Says: "The phase of a connection after the two startup frames, in which everything on the stream is an FPDU. In this phase the responder may not send before it has received the first FPDU of the initiator.",
	},
	{
		Name: "Gap", Ref: "docs/output.md", See: []string{"Resync"},
		Says: "Octets of a stream that are not in the capture although the receiver acknowledged them, or that never came. This program skips them and finds the next FPDU. A gap is a fault of the capture unless the peer lacks the octets too.",
	},
	{
		Name: "Immediate Data", Ref: "RFC 7306 section 6", See: []string{"Send"},
		Says: "A message of eight octets that goes to queue 0 like a Send. It is used after an RDMA Write to tell the peer that the data is there.",
	},
	{
		Name: "Initiator", Also: []string{"MPA initiator"}, Ref: "RFC 5044 section 7.1", See: []string{"Responder", "i2r"},
		Says: "The side that sends the MPA Request. Usually, but not always, it is the one that opened the TCP connection. It has to send the first FPDU.",
	},
	{
		Name: "i2r", Also: []string{"r2i"}, Ref: "docs/output.md", See: []string{"Initiator", "Responder"},
		Says: "The direction from the initiator to the responder; r2i is the other one. Without a handshake in the capture the sender of the first octet counts as the initiator, and the roles are called inferred.",
	},
	{
		Name: "Invalidate", Also: []string{"Send with Invalidate", "invalidate STag"}, Ref: "RFC 5040 section 5.3", See: []string{"STag", "Send"},
		Says: "A Send with Invalidate carries an STag of the receiver, which the receiver withdraws before it hands the message on: the sender gives the buffer back. Using that STag afterwards is an error.",
	},
	{
		Name: "IRD", Stands: "Inbound RDMA Read Queue Depth", Also: []string{"inbound read depth"}, Ref: "RFC 6581 section 9.1", See: []string{"ORD", "RDMA Read"},
		Says: "How many RDMA Read Requests and Atomic Requests a side can hold at a time as their responder. The ORD of the peer must not be larger; a Request beyond the IRD ends the connection.",
	},
	{
		Name: "Last flag", Also: []string{"L bit", "L flag"}, Ref: "RFC 5041 section 4.1", See: []string{"Segment"},
		Says: "The bit of a DDP header that marks the last segment of a message. The message is delivered when all segments up to this one are placed.",
	},
	{
		Name: "LLP", Stands: "Lower Layer Protocol", Ref: "RFC 5040 section 2.2", See: []string{"MPA", "DDP"},
		Says: "What carries DDP: MPA over TCP, or SCTP.",
	},
	{
		Name: "Marker", Also: []string{"markers", "FPDUPTR"}, Ref: "RFC 5044 section 4.3", See: []string{"FPDU"},
		Says: "Four octets that stand in the stream every 512 octets and point back to the beginning of their FPDU. With them a receiver can find its place again. Each side decides by the M bit whether it wants to receive them; most stacks do not.",
	},
	{
		Name: "MO", Stands: "Message Offset", Ref: "RFC 5041 section 4.3", See: []string{"MSN", "Untagged Buffer"},
		Says: "Where in its message the payload of an untagged segment belongs, in octets. The first segment of a message has 0.",
	},
	{
		Name: "MPA", Stands: "Marker PDU Aligned Framing", Ref: "RFC 5044 section 1", See: []string{"FPDU", "Startup"},
		Says: "The layer between TCP and DDP. TCP has no boundaries of messages; MPA adds a length, a CRC, and markers where they are wanted.",
	},
	{
		Name: "MSN", Stands: "Message Sequence Number", Ref: "RFC 5041 section 4.3", See: []string{"QN", "MO"},
		Says: "The number of an untagged message within its queue. It begins with 1 and grows by one with each message; it chooses the buffer that receives the message.",
	},
	{
		Name: "MULPDU", Stands: "Maximum ULPDU", Ref: "RFC 5044 section 3", See: []string{"EMSS", "ULPDU"},
		Says: "The largest ULPDU that DDP may hand to MPA so that its FPDU fits into one TCP segment. It is EMSS without the header, the CRC, the pad and the markers. It is 128 to 64768 octets.",
	},
	{
		Name: "ORD", Stands: "Outbound RDMA Read Queue Depth", Also: []string{"outbound read depth"}, Ref: "RFC 6581 section 9.1", See: []string{"IRD", "RDMA Read"},
		Says: "How many RDMA Read Requests and Atomic Requests a side may have outstanding as their requester. More of them wait in the queue of the sender, so a small ORD limits the rate of Reads on a long path.",
	},
	{
		Name: "Pad", Ref: "RFC 5044 section 4.1", See: []string{"FPDU"},
		Says: "Zero to three octets behind the ULPDU that make the FPDU a multiple of four octets. The sender sets them to zero, the receiver ignores them.",
	},
	{
		Name: "Peer-to-Peer", Also: []string{"p2p", "A bit"}, Ref: "RFC 6581 section 9.2", See: []string{"RTR", "Enhanced RDMA Connection Establishment"},
		Says: "A connection on which either side may send first. Because MPA lets only the initiator begin, the initiator sends an RTR as its first FPDU, and the responder may send once this has arrived. The A bit of the enhanced word asks for it.",
	},
	{
		Name: "Private Data", Ref: "RFC 5044 section 7.1", See: []string{"Startup"},
		Says: "Up to 512 octets in a startup frame that belong to the application, such as the name of a service or the STag and size of a buffer. In enhanced startup frames its first four octets are the word with IRD and ORD.",
	},
	{
		Name: "QN", Stands: "Queue Number", Ref: "RFC 5041 section 4.3", See: []string{"MSN", "Untagged Buffer"},
		Says: "Which queue of untagged buffers a message goes to: 0 for Sends and Immediate Data, 1 for Read Requests and Atomic Requests, 2 for Terminate, 3 for Atomic Responses.",
	},
	{
		Name: "RDMA", Stands: "Remote Direct Memory Access", Ref: "RFC 5040 section 1", See: []string{"RDMAP"},
		Says: "Reading and writing the memory of another host without its processor copying the data.",
	},
	{
		Name: "RDMA Read", Also: []string{"Read"}, Ref: "RFC 5040 section 5.2", See: []string{"Read Request", "Read Response", "IRD"},
		Says: "Fetches data from the memory of the peer: a Read Request names source and sink, and the peer answers with a Read Response. Answers come in the order of the Requests.",
	},
	{
		Name: "RDMA Write", Also: []string{"Write"}, Ref: "RFC 5040 section 5.1", See: []string{"STag", "TO"},
		Says: "Places data in a tagged buffer that the peer has advertised. The peer's application does not learn of it; usually a Send tells it.",
	},
	{
		Name: "RDMAP", Stands: "Remote Direct Memory Access Protocol", Ref: "RFC 5040 section 1", See: []string{"DDP", "RDMA Read", "RDMA Write", "Send"},
		Says: "The upper layer of iWARP: it builds Send, RDMA Write, RDMA Read, Atomic Operations and Terminate from DDP messages.",
	},
	{
		Name: "Read Request", Ref: "RFC 5040 section 4.4", See: []string{"RDMA Read", "Read Response"},
		Says: "A message of 28 octets on queue 1: STag and TO of the sink, the size, and STag and TO of the source.",
	},
	{
		Name: "Read Response", Ref: "RFC 5040 section 4.5", See: []string{"RDMA Read", "Read Request"},
		Says: "The answer to a Read Request, in tagged segments to the sink that the Request names. Its sizes add up to what was asked for, and it ends with the Last flag.",
	},
	{
		Name: "Reject", Also: []string{"R bit", "rejected connection"}, Ref: "RFC 5044 section 7.1", See: []string{"Reply Frame", "Private Data"},
		Says: "An MPA Reply whose R bit is set: the application of the responder does not want the connection. The private data often says why. Both sides close the TCP connection then.",
	},
	{
		Name: "Reply Frame", Also: []string{"MPA Reply"}, Ref: "RFC 5044 section 7.1", See: []string{"Request Frame", "Reject"},
		Says: "The startup frame of the responder. It has the same layout as the Request, the key \"MPA ID Rep Frame\", and the R bit, which rejects.",
	},
	{
		Name: "Request Frame", Also: []string{"MPA Request"}, Ref: "RFC 5044 section 7.1", See: []string{"Reply Frame", "Private Data"},
		Says: "The startup frame of the initiator: the key \"MPA ID Req Frame\", the bits M, C and S, the revision, and private data.",
	},
	{
		Name: "Responder", Also: []string{"MPA responder"}, Ref: "RFC 5044 section 7.1", See: []string{"Initiator"},
		Says: "The side that answers the MPA Request. It must not send an FPDU before the first one of the initiator has arrived.",
	},
	{
		Name: "Resync", Ref: "docs/output.md", See: []string{"Gap", "Marker"},
		Says: "Behind a gap this program searches for the next FPDU. Its place is proven by a right CRC, by two markers that agree, or by a chain of plausible headers.",
	},
	{
		Name: "Revision", Also: []string{"Rev", "MPA revision"}, Ref: "RFC 5044 section 7.1, RFC 6581 section 6", See: []string{"Enhanced RDMA Connection Establishment"},
		Says: "The version of MPA in a startup frame. 0 is that of the RDMA Consortium, 1 that of RFC 5044, 2 that of RFC 6581. The Reply has the revision that both use.",
	},
	{
		Name: "RNIC", Stands: "RDMA Network Interface Controller", Ref: "RFC 5040 section 2.1", See: []string{"RDMAC"},
		Says: "An adapter, or software such as siw, that does RDMA. An adapter has its own TCP, so its traffic does not pass the host and has to be captured on the switch.",
	},
	{
		Name: "RDMAC", Stands: "RDMA Consortium", Ref: "RFC 5044 appendix C", See: []string{"RNIC", "Revision"},
		Says: "The group that made iWARP before the IETF. Its RNICs use revision 0 of MPA and other version numbers in DDP and RDMAP. They work with IETF ones only if those are permissive.",
	},
	{
		Name: "RTR", Stands: "Ready to Receive", Also: []string{"ready to receive"}, Ref: "RFC 6581 section 9.2", See: []string{"Peer-to-Peer", "IRD"},
		Says: "The first FPDU of the initiator on a peer-to-peer connection: a Send, RDMA Write or RDMA Read of zero octets. It lets the responder send. Startup frames say which kinds each side takes.",
	},
	{
		Name: "Segment", Also: []string{"DDP segment"}, Ref: "RFC 5041 section 2.3", See: []string{"Last flag", "ULPDU"},
		Says: "A part of a DDP message with a header of its own, tagged or untagged. One ULPDU carries one segment.",
	},
	{
		Name: "Send", Also: []string{"Send with Solicited Event"}, Ref: "RFC 5040 section 5.3", See: []string{"MSN", "Invalidate"},
		Says: "A message to queue 0 of the peer, which needs a receive buffer for it. With Solicited Event it wakes the receiver, with Invalidate it withdraws an STag.",
	},
	{
		Name: "Snap length", Also: []string{"snaplen"}, Ref: "docs/output.md", See: []string{"Gap"},
		Says: "The most octets of a frame that a capture keeps. Where frames are cut, CRCs cannot be verified and payload is missing; capture with -s 0.",
	},
	{
		Name: "Startup", Also: []string{"MPA startup", "startup frame"}, Ref: "RFC 5044 section 7.1", See: []string{"Request Frame", "Reply Frame", "Full Operation"},
		Says: "The exchange of MPA Request and MPA Reply at the beginning of a connection, or later on one that was plain TCP before. It settles revision, CRC and markers and, if it is enhanced, read depths.",
	},
	{
		Name: "STag", Stands: "Steering Tag", Also: []string{"Rkey", "remote key"}, Ref: "RFC 5041 section 2.3", See: []string{"TO", "Tagged Buffer"},
		Says: "A 32-bit name of a buffer that its owner has registered and told the peer. A Write or Read needs a valid one with the right permission. Guessing one is an attack; using an old one is a frequent fault.",
	},
	{
		Name: "Streaming Mode", Also: []string{"streaming"}, Ref: "RFC 5044 section 7.1", See: []string{"Full Operation"},
		Says: "The time in which a connection is plain TCP, before its startup frames. Some applications exchange messages during this time.",
	},
	{
		Name: "Stream Session", Also: []string{"DDP stream session"}, Ref: "RFC 5043 section 6", See: []string{"DDP-SSN"},
		Says: "DDP over a pair of SCTP streams with the same identifier, from an Initiate to a Terminate. One association may carry many of them.",
	},
	{
		Name: "Tagged Buffer", Also: []string{"tagged", "T bit", "tagged message"}, Ref: "RFC 5041 section 5.1", See: []string{"STag", "TO", "Untagged Buffer"},
		Says: "A buffer that the sender names by STag and TO. RDMA Writes and Read Responses go to one.",
	},
	{
		Name: "Terminate", Also: []string{"Terminate message"}, Ref: "RFC 5040 section 4.8", See: []string{"LLP"},
		Says: "The last message of a side that found an error, on queue 2. It names the layer, the error type and the code, as in 1/1/00, and may quote the header at fault. 'iwdissect explain 1/1/00' tells what a code means.",
	},
	{
		Name: "TO", Stands: "Tagged Offset", Ref: "RFC 5041 section 4.2", See: []string{"STag"},
		Says: "A 64-bit place in a tagged buffer where the octets of a segment belong. Buffers need not begin at 0; many begin at their virtual address.",
	},
	{
		Name: "ULP", Stands: "Upper Layer Protocol", Ref: "RFC 5041 section 2.1", See: []string{"RDMAP"},
		Says: "What uses a layer: RDMAP is the ULP of DDP, and storage such as iSER, NFS or SMB Direct that of RDMAP.",
	},
	{
		Name: "ULPDU", Stands: "Upper Layer Protocol Data Unit", Ref: "RFC 5044 section 2", See: []string{"FPDU", "MULPDU"},
		Says: "What DDP hands to MPA: one DDP segment. Its length stands in the first two octets of the FPDU.",
	},
	{
		Name: "Untagged Buffer", Also: []string{"untagged", "untagged message", "receive buffer"}, Ref: "RFC 5041 section 5.1", See: []string{"QN", "MSN", "MO"},
		Says: "A buffer that the receiver has queued for the next message. Segments name it by queue, MSN and MO. If there is none left for a Send, the connection ends.",
	},
}
