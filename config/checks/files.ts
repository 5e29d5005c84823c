/** Options that contain the content of a flag's file, and are parsed like that file. Errors never quote the text. */
import { ConfigurationError, readConfiguration } from '../../admission/configuration.js'
import type { Message } from '../../schemas/language/declare.js'
import { parseCertificates, parseKey } from '../certificates.js'
import { OptionError, pem, secretString, type Option } from '../option.js'

/** @param parse throws an Error that describes the text and does not quote it */
export const parsed = <T extends string | Uint8Array = string>(
  parse: (text: string) => unknown, type = secretString as Option<T>
): Option<T> => ({
  check: (value, path) => {
    type.check(value, path)
    try {
      parse(typeof value === 'string' ? value : Buffer.from(value as Uint8Array).toString())
    } catch (error) {
      throw new OptionError(path, undefined, error instanceof Error ? error.message : String(error))
    }
  }
})

export const certificates: Option<string> = parsed(parseCertificates)
export const privateKey: Option<string> = parsed(parseKey)
export const certificateBytes: Option<string | Uint8Array> = parsed(parseCertificates, pem)
export const privateKeyBytes: Option<string | Uint8Array> = parsed(parseKey, pem)

/** An object of this kind, decoded strictly and validated. */
export const configured = <T extends object>(message: Message<T>): Option<T> => ({
  check: (value, path) => {
    try {
      readConfiguration<T>('', { value }, [message])
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error
      throw new OptionError(path, undefined, error.why)
    }
  }
})
