package diagnose

import "github.com/iwdissect/iwdissect/dissect/rdmap"

// cause says what the error of a Terminate means: what the other side did wrong, and what to
// try. In both, {sender} stands for the side whose segment was refused and {receiver} for the
// one that sent the Terminate. What it did is the word of the receiver, so it follows "the {receiver} says that":
// the capture seldom proves it.
type cause struct{ what, try string }

// atFault is what to try where an implementation of a layer is at fault.
func atFault(layer, who string) string {
	return "report this to the maintainers of the " + who + "'s " + layer + " implementation: it is at fault."
}

// checkLog is what to try where only the log of a side tells more.
func checkLog(who string) string { return "check the log of the " + who + " for that time." }

// unservable reports whether an error says that the side that sent the Terminate could not do
// what it was asked for, without saying that the request was wrong.
func unservable(c rdmap.TermCode) bool {
	const stream, global = 7, 8
	return c.Layer == rdmap.LayerRDMAP && (c.EType == rdmap.ETypeLocalCatastrophic || c.EType == rdmap.ETypeRemoteOperation && (c.Code == stream || c.Code == global)) ||
		c.Layer == rdmap.LayerDDP && c.EType == rdmap.ETypeLocalCatastrophic
}

// causeOf returns what an error means; ok is false if its code says too little.
func causeOf(c rdmap.TermCode) (cause, bool) {
	k, ok := causes[[3]uint8{c.Layer, c.EType, c.Code}]
	return k, ok
}

const (
	tryVersions = "compare the versions of DDP and RDMAP of both sides: an RDMAC RNIC uses 0, an IETF RNIC 1."
	tryDriver   = "check the versions of the {sender}'s driver and RNIC: one of them is at fault, or octets were changed on the way."
	tryDrivers  = "compare the versions of the drivers and RNICs of both sides."
	tryReceive  = "let the upper layer of the {receiver} post more or larger receive buffers, or let the upper layer of the {sender} keep to its credits."
)

// causes are by layer, error type and error code (RFC 5040 section 4.8, RFC 6580, RFC 6581).
var causes = map[[3]uint8]cause{
	{0, 1, 0x00}: {"the {sender} named an invalid STag", ""},
	{0, 1, 0x01}: {"the {sender} named octets outside the buffer of the {receiver}", "compare offset and length of the request with the size that the {receiver} advertised."},
	{0, 1, 0x02}: {"the {sender} asked for an access that the {receiver} does not allow", "register the memory of the {receiver} with remote read, write or atomic access, as the request needs."},
	{0, 1, 0x03}: {"the {sender} named an STag that does not belong to this connection", "register the memory in the protection domain of this connection."},
	{0, 1, 0x04}: {"the {sender} sent a request whose octets wrap around the end of the address space", "compare offset and length of the request with what the {receiver} advertised."},
	{0, 1, 0x09}: {"the {sender} wanted to invalidate an STag that cannot be invalidated", "compare the STag with the one that the {receiver} advertised: only memory windows and fast registrations can be invalidated."},
	{0, 2, 0x05}: {"it does not know the RDMAP version that the {sender} sent", tryVersions},
	{0, 2, 0x06}: {"it did not expect the opcode that the {sender} sent", tryDriver},
	{0, 2, 0x07}: {"it gave up this connection for a reason of its own", checkLog("{receiver}")},
	{0, 2, 0x08}: {"it gave up all its connections for a reason of its own", checkLog("{receiver}")},
	{0, 2, 0x09}: {"the {sender} wanted to invalidate an STag that cannot be invalidated", "compare the STag with the one that the {receiver} advertised."},
	{1, 1, 0x00}: {"the {sender} wrote to an invalid STag", ""},
	{1, 1, 0x01}: {"the {sender} wrote outside the buffer of the {receiver}", "compare offset and length with the size that the {receiver} advertised."},
	{1, 1, 0x02}: {"the {sender} wrote to an STag that does not belong to this connection", "register the memory in the protection domain of this connection."},
	{1, 1, 0x03}: {"the {sender} wrote octets that wrap around the end of the address space", "compare offset and length with what the {receiver} advertised."},
	{1, 1, 0x04}: {"it does not know the DDP version that the {sender} sent", tryVersions},
	{1, 2, 0x01}: {"the {sender} sent a message to a wrong queue", tryDriver},
	{1, 2, 0x02}: {"it had no receive buffer, or none large enough, for a message of the {sender}", tryReceive},
	{1, 2, 0x03}: {"the {sender} sent a message whose MSN is outside the range that the {receiver} takes", tryDriver},
	{1, 2, 0x04}: {"the {sender} sent a segment whose offset in its message is wrong", tryDriver},
	{1, 2, 0x05}: {"the {sender} sent a message that is longer than the receive buffer of the {receiver}", tryReceive},
	{1, 2, 0x06}: {"it does not know the DDP version that the {sender} sent", tryVersions},
	{2, 0, 0x02}: {"the {sender} sent an FPDU whose CRC was wrong when it arrived", "check whether the CRC is wrong in the capture too. If so, the {sender} or the path to the capture point changed it, otherwise the path behind it or the {receiver}."},
	{2, 0, 0x03}: {"the {sender} sent markers that do not agree with the lengths of its FPDUs", tryDriver},
	{2, 0, 0x04}: {"it does not accept the startup frame of the {sender}", "compare revision, flags and private data of the startup frames."},
	{2, 0, 0x06}: {"it has too few resources for the read depth that the {sender} asks for", "lower the ORD of the {sender}, or raise the IRD of the {receiver}."},
	{2, 0, 0x07}: {"it finds no ready-to-receive indication that both sides know", "compare the peer-to-peer settings and the kinds of RTR of both sides (for siw: peer_to_peer and rtr_type)."},
}
