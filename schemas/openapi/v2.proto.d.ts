/** Types of what `build/protobuf.js` makes of v2.proto. A message is any object with fields of the file, in camel case; what else is in it is not written. */
import type { Writer } from 'protobufjs'

interface Written { encode: (message: object, writer?: Writer) => Writer }

export const Document: Written
export const ParametersItem: Written
export const PathItem: Written
export const Schema: Written
