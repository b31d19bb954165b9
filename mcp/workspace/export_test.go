package workspace

import "os"

// A server of a test keeps the processes of its commands if its environment says so.
func init() { keepProcesses = os.Getenv("TEST_KEEP_PROCESSES") != "" }
