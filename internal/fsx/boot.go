package fsx

import (
	"os"
	"strings"
)

// BootID names the latest start of the machine: what was not synced before it may be lost.
// It is empty where the system does not say.
func BootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
