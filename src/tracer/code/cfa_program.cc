// The compiler leaves, for each place of its code, how to find the caller's frame: a program for a
// small machine (DWARF's call frame information, as in .eh_frame). It is run once for a place, and
// its result is kept as a FrameRule. Only what compilers make for ordinary functions is understood;
// anything else gives an empty rule, and that frame is left to libunwind. Nothing here allocates or
// calls into the C library beyond memcpy, as it may run inside of any call.

#include "tracer/code/cfa_program.h"

#include <cstring>

namespace refrain::tracer {

namespace {

// DWARF's numbers of registers on x86-64.
constexpr uint64_t kFramePointer = 6, kStackPointer = 7, kReturnAddress = 16;

// DW_EH_PE_*.
enum : uint8_t {
  kAbsolute = 0x00,
  kUnsigned2 = 0x02,
  kUnsigned4 = 0x03,
  kUnsigned8 = 0x04,
  kSigned2 = 0x0a,
  kSigned4 = 0x0b,
  kSigned8 = 0x0c,
  kFormat = 0x0f,
  kRelative = 0x10,
  kToData = 0x30,
  kBase = 0x70,
  kIndirect = 0x80,
};

// DW_CFA_*.
enum : uint8_t {
  kAdvance = 0x40,  // these three have an operand in their lower bits
  kOffset = 0x80,
  kRestore = 0xc0,
  kNop = 0x00,
  kSetPlace = 0x01,
  kAdvance1 = 0x02,
  kAdvance2 = 0x03,
  kAdvance4 = 0x04,
  kOffsetLong = 0x05,
  kRestoreLong = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kInRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefineEnd = 0x0c,
  kDefineEndRegister = 0x0d,
  kDefineEndOffset = 0x0e,
  kDefineEndExpression = 0x0f,
  kExpression = 0x10,
  kOffsetSigned = 0x11,
  kDefineEndSigned = 0x12,
  kDefineEndOffsetSigned = 0x13,
  kValueOffset = 0x14,
  kValueOffsetSigned = 0x15,
  kValueExpression = 0x16,
  kArgumentsSize = 0x2e,
};

// DW_OP_*.
constexpr uint8_t kFramePointerPlus = 0x70 + kFramePointer, kDereference = 0x06;

// Where the caller's value of a register is: still in it, on the stack, or nowhere that is known
// here.
struct Saved {
  enum class How : uint8_t { kKept, kUndefined, kAtOffset, kAtFramePointer, kOther };
  How how = How::kKept;
  int64_t offset = 0;
};

// The state of the machine at one place. `end` is DWARF's canonical frame address, the end of the
// frame, from which the offsets of saved registers count. Of the registers only frame pointer and
// return address are followed.
struct Row {
  enum class End : uint8_t { kRegister, kStored, kOther };
  End end = End::kOther;
  uint64_t end_register = 0;
  int64_t end_offset = 0;
  Saved pointer, address;

  // Of the registers that matter here; null for others.
  Saved* of(uint64_t number) {
    return number == kFramePointer ? &pointer : number == kReturnAddress ? &address : nullptr;
  }
  void set(uint64_t number, Saved::How how, int64_t offset = 0) {
    if (Saved* const s = of(number); s != nullptr) *s = {how, offset};
  }
};

class Machine {
 public:
  explicit Machine(const CommonInfo& common) : common_(common) {}

  // Until an instruction is for a later place. False: something that is not understood.
  bool run(EhBytes program, uintptr_t begin, uintptr_t place) {
    at_ = begin;
    while (!program.at_end() && is_good_ && at_ <= place) step(program);
    return is_good_ && program.is_good();
  }
  // What the functions have in common is over.
  void keep_initial() { initial_ = row_; }
  const Row& row() const { return row_; }

 private:
  static constexpr int kStates = 8;

  void step(EhBytes& program);
  void registers(uint8_t code, EhBytes& program);
  void end_of_frame(uint8_t code, EhBytes& program);
  void advance(uint64_t units) { at_ += units * common_.code_unit; }
  void offset(uint64_t number, int64_t units) {
    row_.set(number, Saved::How::kAtOffset, units * common_.data_unit);
  }
  void restore(uint64_t number) {
    if (Saved* const s = row_.of(number); s != nullptr) *s = *initial_.of(number);
  }
  void end_at_register(uint64_t number, int64_t offset) {
    row_.end = Row::End::kRegister;
    row_.end_register = number;
    row_.end_offset = offset;
  }
  // These instructions change one half of "register + offset". What is not changed must be known.
  void change_end(uint64_t number, int64_t offset) {
    if (row_.end == Row::End::kRegister) return end_at_register(number, offset);
    is_good_ = false;
  }

  const CommonInfo& common_;
  Row row_, initial_, states_[kStates];
  int state_count_ = 0;
  uintptr_t at_ = 0;
  bool is_good_ = true;
};

void Machine::step(EhBytes& program) {
  const uint8_t code = program.byte();
  const uint8_t low = code & 0x3f;
  switch (code & 0xc0) {
    case kAdvance: return advance(low);
    case kOffset: return offset(low, static_cast<int64_t>(program.uleb()));
    case kRestore: return restore(low);
    default: break;
  }
  switch (code) {
    case kNop: return;
    case kSetPlace: at_ = program.address(common_.pointer_encoding); return;
    case kAdvance1: return advance(program.byte());
    case kAdvance2: return advance(program.fixed<uint16_t>());
    case kAdvance4: return advance(program.fixed<uint32_t>());
    case kArgumentsSize: program.uleb(); return;  // for landing pads of exceptions only
    case kRememberState:
      is_good_ = state_count_ < kStates;
      if (is_good_) states_[state_count_++] = row_;
      return;
    case kRestoreState:
      is_good_ = state_count_ > 0;
      if (is_good_) row_ = states_[--state_count_];
      return;
    case kDefineEnd:
    case kDefineEndRegister:
    case kDefineEndOffset:
    case kDefineEndExpression:
    case kDefineEndSigned:
    case kDefineEndOffsetSigned: return end_of_frame(code, program);
    default: return registers(code, program);
  }
}

void Machine::registers(uint8_t code, EhBytes& program) {
  const uint64_t number = program.uleb();
  switch (code) {
    case kOffsetLong: return offset(number, static_cast<int64_t>(program.uleb()));
    case kOffsetSigned: return offset(number, program.sleb());
    case kRestoreLong: return restore(number);
    case kUndefined: return row_.set(number, Saved::How::kUndefined);
    case kSameValue: return row_.set(number, Saved::How::kKept);
    case kInRegister: program.uleb(); return row_.set(number, Saved::How::kOther);
    case kValueOffset: program.uleb(); return row_.set(number, Saved::How::kOther);
    case kValueOffsetSigned: program.sleb(); return row_.set(number, Saved::How::kOther);
    case kValueExpression:
      program.skip(program.uleb());
      return row_.set(number, Saved::How::kOther);
    case kExpression: {
      // Only "at the frame pointer + n", which functions have that align their stack.
      EhBytes expression = program.part(program.uleb());
      const bool known = expression.byte() == kFramePointerPlus;
      const int64_t offset = expression.sleb();
      const bool whole = known && expression.is_good() && expression.at_end();
      return row_.set(number, whole ? Saved::How::kAtFramePointer : Saved::How::kOther, offset);
    }
    default: is_good_ = false;
  }
}

void Machine::end_of_frame(uint8_t code, EhBytes& program) {
  switch (code) {
    case kDefineEnd: {
      const uint64_t number = program.uleb();
      return end_at_register(number, static_cast<int64_t>(program.uleb()));
    }
    case kDefineEndSigned: {
      const uint64_t number = program.uleb();
      return end_at_register(number, program.sleb() * common_.data_unit);
    }
    case kDefineEndRegister: return change_end(program.uleb(), row_.end_offset);
    case kDefineEndOffset:
      return change_end(row_.end_register, static_cast<int64_t>(program.uleb()));
    case kDefineEndOffsetSigned:
      return change_end(row_.end_register, program.sleb() * common_.data_unit);
    default: {
      // Only "what stands at the frame pointer + n", which functions have that align their stack.
      EhBytes expression = program.part(program.uleb());
      const bool known = expression.byte() == kFramePointerPlus;
      row_.end_offset = expression.sleb();
      const bool whole =
          known && expression.byte() == kDereference && expression.is_good() && expression.at_end();
      row_.end = whole ? Row::End::kStored : Row::End::kOther;
    }
  }
}

// A FrameRule has offsets of 32 bits.
bool fits(int64_t offset) { return offset == static_cast<int32_t>(offset); }

// The return address must lie right below the frame's end, where a call puts it; an undefined one
// ends the stack.
FrameRule rule_of(const Row& row) {
  FrameRule rule;
  if (row.address.how == Saved::How::kUndefined) {
    rule.how_end = FrameRule::End::kOutermost;
    return rule;
  }
  const int64_t word = sizeof(void*);
  if (row.address.how != Saved::How::kAtOffset || row.address.offset != -word ||
      !fits(row.end_offset) || !fits(row.pointer.offset))
    return {};
  rule.end = static_cast<int32_t>(row.end_offset);
  rule.pointer = static_cast<int32_t>(row.pointer.offset);
  switch (row.pointer.how) {
    case Saved::How::kKept: rule.how_pointer = FrameRule::Pointer::kKept; break;
    case Saved::How::kAtOffset: rule.how_pointer = FrameRule::Pointer::kByEnd; break;
    case Saved::How::kAtFramePointer: rule.how_pointer = FrameRule::Pointer::kByFramePointer; break;
    default: return {};
  }
  if (row.end == Row::End::kStored)
    rule.how_end = FrameRule::End::kStored;
  else if (row.end == Row::End::kRegister && row.end_register == kStackPointer)
    rule.how_end = FrameRule::End::kByStackPointer;
  else if (row.end == Row::End::kRegister && row.end_register == kFramePointer)
    rule.how_end = FrameRule::End::kByFramePointer;
  return rule;
}

}  // namespace

// A pointer in one of the encodings of .eh_frame. An indirect one would have to be read from memory
// that may not be relocated yet: it counts as not understood.
uintptr_t EhBytes::address(uint8_t encoding, uintptr_t base) {
  const uintptr_t place = at_;
  uint64_t value = 0;
  switch (encoding & kFormat) {
    case kAbsolute: value = fixed<uintptr_t>(); break;
    case kUnsigned2: value = fixed<uint16_t>(); break;
    case kUnsigned4: value = fixed<uint32_t>(); break;
    case kUnsigned8:
    case kSigned8: value = fixed<uint64_t>(); break;
    case kSigned2: value = static_cast<uint64_t>(int64_t{fixed<int16_t>()}); break;
    case kSigned4: value = static_cast<uint64_t>(int64_t{fixed<int32_t>()}); break;
    default: good_ = false;
  }
  if ((encoding & kIndirect) != 0) good_ = false;
  switch (encoding & kBase) {
    case kAbsolute: return value;
    case kRelative: return value + place;
    case kToData: return value + base;
    default: good_ = false; return 0;
  }
}

// What the functions of one object file have in common (a CIE). Its augmentation string lists what
// follows, in order; an unknown letter means that the rest cannot be read.
CommonInfo read_common_info(EhBytes entry) {
  CommonInfo info;
  const uint8_t version = entry.byte();
  const char* const augmentation = entry.string();
  info.code_unit = entry.uleb();
  info.data_unit = entry.sleb();
  const uint64_t column = version == 1 ? entry.byte() : entry.uleb();
  if ((version != 1 && version != 3) || column != kReturnAddress) return info;
  info.has_augmentation = augmentation[0] == 'z';
  if (info.has_augmentation) {
    EhBytes data = entry.part(entry.uleb());
    for (const char* c = augmentation + 1; *c != '\0'; ++c) {
      switch (*c) {
        case 'R': info.pointer_encoding = data.byte(); break;
        case 'L': data.byte(); break;
        // The personality is not asked; a pointer to it may be indirect.
        case 'P': data.address(static_cast<uint8_t>(data.byte() & ~kIndirect)); break;
        default: return info;  // S: the frame of a signal handler
      }
    }
    if (!data.is_good()) return info;
  } else if (augmentation[0] != '\0') {
    return info;
  }
  info.program = entry;
  info.is_good = entry.is_good();
  return info;
}

FrameRule run_cfa_program(const CommonInfo& common, EhBytes program, uintptr_t begin,
                          uintptr_t place) {
  Machine machine(common);
  if (!machine.run(common.program, begin, place)) return {};
  machine.keep_initial();
  if (!machine.run(program, begin, place)) return {};
  return rule_of(machine.row());
}

}  // namespace refrain::tracer
