package contexts

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
)

// rawLine writes a log line by the book (docs of package eventlog), without the
// checks of the code under test.
func rawLine(seq uint64, kind string, v int, data, prev string) []byte {
	body := fmt.Sprintf(`{"seq":%d,"time":"2026-11-27T20:41:48.123456Z","type":%q,"v":%d,"cause":0,"data":%s,"prev":"%s"`,
		seq, kind, v, data, prev)
	crc := crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli))
	return fmt.Appendf(nil, "%s,\"crc\":\"%08x\"}\n", body, crc)
}

func lineHash(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:8])
}
