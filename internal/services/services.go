// Package services has the TCP ports on which servers of iWARP listen, and what for.
package services

import "slices"

// Service is an upper layer, or a tool, with the ports that its servers listen on: the usual one first.
type Service struct {
	Name  string
	Ports []uint16
}

// The services.
var (
	SMBDirect = Service{"SMB Direct", []uint16{5445, 445}}
	NFS       = Service{"NFS over RDMA", []uint16{20049}}
	ISER      = Service{"iSER", []uint16{3260, 860}}
	NVMe      = Service{"NVMe over RDMA", []uint16{4420, 8009}}
	Librdmacm = Service{"librdmacm", []uint16{7174, 7471}}
)

// All are all of them.
var All = []Service{SMBDirect, NFS, ISER, NVMe, Librdmacm}

// Has reports whether a port is one of a service.
func Has(port uint16) bool {
	return slices.ContainsFunc(All, func(s Service) bool { return slices.Contains(s.Ports, port) })
}
