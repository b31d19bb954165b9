// Package browser tests our pages in Chromium, and takes their screenshots.
package browser
