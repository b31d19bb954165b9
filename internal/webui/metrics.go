package webui

import (
	"bytes"
	"net/http"
	"time"

	"agent/internal/metrics"
)

// metrics answers a scrape of Prometheus.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	text, err := s.gauges.get(5*time.Second, func() ([]byte, error) {
		source := s.source
		source.Now = time.Now()
		status, err := source.Status(0)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = metrics.Write(&b, status, s.o.Version)
		return b.Bytes(), err
	})
	if err != nil {
		s.refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", metrics.ContentType)
	_, _ = w.Write(text)
}
