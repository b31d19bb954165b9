//go:build nosave

package engine

const saving = false
