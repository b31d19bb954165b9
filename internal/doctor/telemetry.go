package doctor

import (
	"time"

	"agent/internal/export"
)

// checkTelemetry wants the collector to answer. Without it the agent works as well.
func (d *doctor) checkTelemetry() {
	t := d.Config.Telemetry
	if t.OTLPEndpoint == "" {
		return
	}
	ctx, cancel := d.within(10 * time.Second)
	defer cancel()
	if err := (export.Client{Endpoint: t.OTLPEndpoint, Headers: t.Headers}).Post(ctx, nil); err != nil {
		d.note("telemetry", Warning, d.text("doctor.telemetry.none", err), d.text("doctor.todo.telemetry"))
		return
	}
	d.ok("telemetry", "doctor.telemetry", t.OTLPEndpoint)
}
