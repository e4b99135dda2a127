package bpf

import (
	"maps"
	"slices"
	"strings"
)

// Numbers of protocols (IANA).
const (
	protoICMP     = 1
	protoIGMP     = 2
	protoTCP      = 6
	protoUDP      = 17
	protoGRE      = 47
	protoFragment = 44
	protoESP      = 50
	protoAH       = 51
	protoICMPv6   = 58
	protoPIM      = 103
	protoVRRP     = 112
	protoSCTP     = 132
)

// EtherTypes.
const (
	typeIPv4  = 0x0800
	typeARP   = 0x0806
	typeRARP  = 0x8035
	typeVLAN  = 0x8100
	typeIPv6  = 0x86dd
	typeQinQ  = 0x88a8
	typeOldQ  = 0x9100
	typeATalk = 0x809b
	typeAARP  = 0x80f3
)

// What the name of a protocol stands for.
type protocol struct {
	// layer is where the protocol is told.
	layer layer
	// value is the EtherType, or the IP protocol number.
	value uint32
}

// layer says which header tells what a protocol is, or where an octet is
// counted from.
type layer uint8

const (
	anyIP    layer = iota // IPv4 or IPv6
	linkType              // the EtherType
	onlyIPv4              // IPv4
	onlyIPv6              // IPv6
	linkLayer
)

// protocols are the names that stand for themselves, qualify what follows, or
// have octets: "tcp", "tcp port 80", "tcp[13]".
var protocols = map[string]protocol{
	"ether": {linkLayer, 0},
	"link":  {linkLayer, 0},
	"ip":    {linkType, typeIPv4},
	"ip6":   {linkType, typeIPv6},
	"arp":   {linkType, typeARP},
	"rarp":  {linkType, typeRARP},
	"tcp":   {anyIP, protoTCP},
	"udp":   {anyIP, protoUDP},
	"sctp":  {anyIP, protoSCTP},
	"icmp":  {onlyIPv4, protoICMP},
	"igmp":  {onlyIPv4, protoIGMP},
	"vrrp":  {onlyIPv4, protoVRRP},
	"icmp6": {onlyIPv6, protoICMPv6},
	"pim":   {anyIP, protoPIM},
	"ah":    {anyIP, protoAH},
	"esp":   {anyIP, protoESP},
}

// protocolNames are what "proto" takes beside a number, etherNames what "ether
// proto" does.
var (
	protocolNames = map[string]uint32{
		"icmp": protoICMP, "igmp": protoIGMP, "tcp": protoTCP, "udp": protoUDP, "sctp": protoSCTP,
		"gre": protoGRE, "esp": protoESP, "ah": protoAH, "icmp6": protoICMPv6, "ipv6-icmp": protoICMPv6,
		"pim": protoPIM, "vrrp": protoVRRP, "ipip": 4, "ipv6": 41, "ospf": 89,
	}
	etherNames = map[string]uint32{
		"ip": typeIPv4, "ip6": typeIPv6, "arp": typeARP, "rarp": typeRARP, "vlan": typeVLAN,
		"mpls": 0x8847, "pppoes": 0x8864, "pppoed": 0x8863, "roce": 0x8915, "fcoe": 0x8906, "lldp": 0x88cc,
	}
)

// services are the names of ports: those of the protocols that go over iWARP,
// of the tunnels that may carry them, and the best known ones. A name stands
// for its number over TCP, UDP and SCTP. /etc/services is not read: the same
// filter means the same everywhere.
var services = map[string]uint32{
	"nfsrdma": 20049, "nfs": 2049, "sunrpc": 111, "smbdirect": 5445, "microsoft-ds": 445,
	"iscsi": 860, "iscsi-target": 3260, "isns": 3205, "nvme": 4420, "nvme-disc": 8009,
	"sctp-tunneling": 9899, "vxlan": 4789, "geneve": 6081, "roce": 4791,
	"ssh": 22, "telnet": 23, "smtp": 25, "domain": 53, "bootps": 67, "bootpc": 68, "http": 80,
	"kerberos": 88, "ntp": 123, "netbios-ssn": 139, "snmp": 161, "ldap": 389, "https": 443,
	"syslog": 514, "mdns": 5353, "http-alt": 8080,
}

// constants are names of numbers, of offsets and of values.
var constants = map[string]uint32{
	"tcpflags": 13,
	"tcp-fin":  0x01, "tcp-syn": 0x02, "tcp-rst": 0x04, "tcp-push": 0x08,
	"tcp-ack": 0x10, "tcp-urg": 0x20, "tcp-ece": 0x40, "tcp-cwr": 0x80,

	"icmptype": 0, "icmpcode": 1,
	"icmp-echoreply": 0, "icmp-unreach": 3, "icmp-sourcequench": 4, "icmp-redirect": 5, "icmp-echo": 8,
	"icmp-routeradvert": 9, "icmp-routersolicit": 10, "icmp-timxceed": 11, "icmp-paramprob": 12,
	"icmp-tstamp": 13, "icmp-tstampreply": 14, "icmp-ireq": 15, "icmp-ireqreply": 16,
	"icmp-maskreq": 17, "icmp-maskreply": 18,

	"icmp6type": 0, "icmp6code": 1,
	"icmp6-destinationunreach": 1, "icmp6-packettoobig": 2, "icmp6-timeexceeded": 3, "icmp6-parameterproblem": 4,
	"icmp6-echo": 128, "icmp6-echoreply": 129, "icmp6-multicastlistenerquery": 130,
	"icmp6-multicastlistenerreportv1": 131, "icmp6-multicastlistenerdone": 132,
	"icmp6-routersolicit": 133, "icmp6-routeradvert": 134, "icmp6-neighborsolicit": 135,
	"icmp6-neighboradvert": 136, "icmp6-redirect": 137, "icmp6-multicastlistenerreportv2": 143,
}

// keywords are all words with a meaning, for the nearest of them.
var keywords = func() []string {
	all := strings.Fields("host net mask port portrange proto src dst less greater len length " +
		"broadcast multicast vlan inbound outbound ifindex and or not")
	all = slices.Concat(all, slices.Collect(maps.Keys(protocols)), slices.Collect(maps.Keys(constants)))
	slices.Sort(all)
	return all
}()

// Words are the words that a condition can be made of, sorted.
func Words() []string {
	return slices.DeleteFunc(slices.Clone(keywords), func(w string) bool {
		_, number := constants[w]
		return number
	})
}

// elsewhere are words of libpcap that are not compiled here.
var elsewhere = map[string]bool{
	"mpls": true, "pppoed": true, "pppoes": true, "geneve": true, "protochain": true, "gateway": true,
	"fddi": true, "tr": true, "wlan": true, "ppp": true, "slip": true, "llc": true, "iso": true, "clnp": true,
	"esis": true, "isis": true, "stp": true, "ipx": true, "netbeui": true, "atalk": true, "aarp": true,
	"decnet": true, "lat": true, "sca": true, "moprc": true, "mopdl": true, "igrp": true, "carp": true, "byte": true,
	"type": true, "subtype": true, "dir": true, "direction": true, "addr1": true, "addr2": true, "addr3": true,
	"addr4": true, "ra": true, "ta": true, "radio": true, "on": true, "ifname": true, "rset": true, "ruleset": true,
	"rnr": true, "rulenum": true, "srnr": true, "subrulenum": true, "reason": true, "action": true,
	"lane": true, "metac": true, "bcc": true, "oam": true, "oamf4": true, "sc": true, "ilmic": true, "vpi": true, "vci": true,
}
