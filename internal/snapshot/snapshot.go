// Package snapshot keeps the files of a working copy as git trees, in an object
// directory of our own that git reads as any other.
//
// [Copy.Save] reads what changed in a directory and stores it: the new contents, the
// contents that they replaced, and every tree on the way from the roots to them. So
// any two saved trees can be compared without the repository that they came from. What
// did not change since the base commit is not stored: its names stand in the trees.
// [Copy.Fill] makes a directory what a saved tree says.
//
// A tree holds what git would add, byte for byte: no attribute converts a content, and
// modes and links are kept. Ignored files (by the .gitignore files of the copy), empty
// directories, repositories inside of the copy, and what is neither a file nor a link
// are not in it. Files that are too large, unreadable or hold a secret keep the entry
// that they had, and are named as not saved.
//
// Nothing in the working copy is trusted. It is read by descriptors of directories, one
// path element at a time, without following a link: whoever swaps a directory for a link
// leads us nowhere. Nothing of its .git is read but objects, whose contents are checked
// against their names. No program is started.
//
// Format: objects/pack/pack-*.pack and .idx, one pair for each save, without deltas.
// [Store.Merge] makes one pair of them, with deltas, when a process ends.
// A save is durable when Save returns.
package snapshot

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
)

// Kinds of objects, as packs number them.
const (
	kindCommit byte = 1 + iota
	kindTree
	kindBlob
	kindTag
	kindOffsetDelta byte = 6
	kindNameDelta   byte = 7
)

var kindNames = map[byte]string{kindCommit: "commit", kindTree: "tree", kindBlob: "blob", kindTag: "tag"}

// Object names of the two formats have this many hex digits.
const (
	SHA1   = 40
	SHA256 = 64
)

// object is a content with its name.
type object struct {
	name string // hex
	kind byte
	data []byte
}

func newObject(format int, kind byte, data []byte) object {
	return object{nameOf(format, kind, data), kind, data}
}

func newHash(format int) hash.Hash {
	if format == SHA256 {
		return sha256.New()
	}
	return sha1.New()
}

func nameOf(format int, kind byte, data []byte) string {
	h := newHash(format)
	h.Write([]byte(kindNames[kind] + " " + strconv.Itoa(len(data)) + "\x00"))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// EmptyTree is the name of the tree without entries.
func EmptyTree(format int) string { return nameOf(format, kindTree, nil) }

// raw is a name as trees and indexes hold it.
func raw(name string) ([]byte, error) {
	b, err := hex.DecodeString(name)
	if err != nil || len(name) != SHA1 && len(name) != SHA256 {
		return nil, fmt.Errorf("%q is not an object's name", name)
	}
	return b, nil
}
