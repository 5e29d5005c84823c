/**
 * Types of the encoders that `build/protobuf.js` generates from v2.proto. Messages have camel-case fields; other
 * members are ignored.
 */
import type { Writer } from 'protobufjs'

interface Written { encode: (message: object, writer?: Writer) => Writer }

export const Document: Written
export const ParametersItem: Written
export const PathItem: Written
export const Schema: Written
