import type { BlockingResponse } from '../blocking-fetch.ts'

interface Options {
  headers?: Record<string, string>
  muteHttpExceptions?: boolean
  followRedirects?: boolean
}

const REDIRECTS = [301, 302, 303, 307, 308]
const MAX_REDIRECTS = 5

/**
 * A stand-in for `UrlFetchApp.fetch`. By default it throws for a status of 400 or more, and follows
 * a redirect with the same headers, also to another host.
 */
export function createUrlFetch(
  send: (url: string, headers: Record<string, string>) => BlockingResponse,
) {
  return (url: string, options: Options = {}) => {
    const { headers = {}, muteHttpExceptions = false, followRedirects = true } = options
    let answer = send(url, headers)
    for (let left = MAX_REDIRECTS; followRedirects && left > 0; left -= 1) {
      const { location } = answer.headers
      if (!REDIRECTS.includes(answer.status) || location === undefined) break
      answer = send(new URL(location, url).href, headers)
    }
    if (answer.status >= 400 && !muteHttpExceptions) {
      throw new Error(`Request failed for ${url} returned code ${answer.status}.`)
    }
    return {
      getResponseCode: () => answer.status,
      getContentText: () => answer.body,
      getHeaders: () => answer.headers,
    }
  }
}
