package startup

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// GiveBack lets go of the program's code that was needed to start. Initialization reads a little everywhere, and the
// kernel maps 64 KiB around each page that is read. What is needed again is still in the kernel's cache.
func GiveBack() {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, _ := os.ReadFile("/proc/self/maps")
	for line := range strings.Lines(string(maps)) {
		fields := strings.Fields(line)
		if len(fields) != 6 || fields[1] != "r-xp" || fields[5] != self {
			continue
		}
		var from, to uintptr
		if _, err := fmt.Sscanf(fields[0], "%x-%x", &from, &to); err == nil {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED) // else they stay
		}
	}
}
