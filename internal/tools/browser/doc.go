// Package browser tests our pages in Chromium, and takes their screenshots.
//
// Nothing of this module is shipped. chromedp and cdproto, which drive Chromium, are under MIT.
package browser
