package config

import "agent/forge"

// Labels are those that the section names, with what they look like when the
// agent creates them.
func (f Forge) Labels() (named []forge.Label) {
	for _, l := range []forge.Label{
		forge.TriggerLabel.Named(f.BotLabel),
		forge.ProcessingLabel.Named(f.ProcessingLabel),
		forge.DoneLabel.Named(f.DoneLabel),
		forge.PausedLabel.Named(f.PausedLabel),
		forge.StoppedLabel.Named(f.StoppedLabel),
		forge.FailedLabel.Named(f.FailedLabel),
		forge.AwaitingLabel.Named(f.AwaitingLabel),
	} {
		if l.Name != "" {
			named = append(named, l)
		}
	}
	return named
}
