/** Validates values that responses contain: the host name in URLs, and HSTS directives. */

export function hostnameProblem (value: string): string | undefined {
  const match = /^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(value)
  return match === null || Number(match[1] ?? 1) > 65535 ? 'must be a host name, with a port if need be' : undefined
}

export const hstsProblem = (value: string): string | undefined =>
  /^(?:max-age=\d{1,10}|includeSubDomains|preload)$/i.test(value)
    ? undefined
    : 'must be max-age=SECONDS, includeSubDomains or preload'
