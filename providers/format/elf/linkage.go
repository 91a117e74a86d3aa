package elf

import (
	"rea/providers/format/object"
)

// Linkage is what a dynamic linker needs to find the libraries of a file.
type Linkage struct {
	Arch          object.Arch
	Machine       string
	Bits          int
	BigEndian     bool
	Kind          object.Kind
	Interp        string
	SOName        string
	Needed        []string
	RPath         string // DT_RPATH, which counts only where there is no DT_RUNPATH
	RunPath       string
	NoDefaultLibs bool // neither the cache nor the default directories are searched
}

const df1NoDefLib = 0x800

// ReadLinkage reads the program headers and the dynamic table, nothing else.
func ReadLinkage(data []byte) (*Linkage, error) {
	f := &file{data: data, im: &object.Image{Format: object.ELF}}
	f.im.SetData(data)
	if err := f.readHeader(); err != nil {
		return nil, err
	}
	f.readTables()
	f.identify()
	f.loadSegments()
	f.readDynamic()
	im, d := f.im, &f.dynamic
	return &Linkage{
		Arch: im.Arch, Machine: im.Machine, Bits: im.Bits, BigEndian: im.BigEndian, Kind: im.Kind, Interp: im.Interp, SOName: im.SOName,
		Needed: d.needed, RPath: d.rpath, RunPath: d.runpath, NoDefaultLibs: d.flags1&df1NoDefLib != 0,
	}, nil
}
