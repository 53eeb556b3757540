import type { BlockingAnswer } from '../blocking-fetch.ts'

interface Options {
  headers?: Record<string, string>
  muteHttpExceptions?: boolean
  followRedirects?: boolean
}

const REDIRECTS = [301, 302, 303, 307, 308]
const MAX_REDIRECTS = 5

/**
 * A stand-in for `UrlFetchApp.fetch`: unless it is told otherwise, it throws at a status of 400 or more, and follows
 * a redirect, with the same headers wherever that leads.
 */
export function createUrlFetch(
  ask: (url: string, headers: Record<string, string>) => BlockingAnswer,
) {
  return (url: string, options: Options = {}) => {
    const { headers = {}, muteHttpExceptions = false, followRedirects = true } = options
    let answer = ask(url, headers)
    for (let left = MAX_REDIRECTS; followRedirects && left > 0; left -= 1) {
      const { location } = answer.headers
      if (!REDIRECTS.includes(answer.status) || location === undefined) break
      answer = ask(new URL(location, url).href, headers)
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
