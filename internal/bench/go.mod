module agent/internal/bench

go 1.26.0

require (
	agent v0.0.0
	github.com/mattn/go-sqlite3 v1.14.53
	github.com/tidwall/wal v1.2.1
)

require (
	github.com/google/uuid v1.6.0 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
	github.com/tidwall/gjson v1.10.2 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.0 // indirect
	github.com/tidwall/tinylru v1.1.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace agent => ../..
