// SPDX-License-Identifier: Apache-2.0
// The icons in use, 16 px, hidden from screen readers: the button has the label.
import {
  Archive,
  ArrowDown,
  ArrowLeft,
  ArrowUp,
  Bot,
  Check,
  ChevronDown,
  ChevronLeft,
  ChevronRight,
  ChevronUp,
  CircleAlert,
  CircleStop,
  CodeXml,
  Columns2,
  Copy,
  Ellipsis,
  FileText,
  Folder,
  GitBranch,
  GitFork,
  GitMerge,
  History,
  House,
  Image,
  Keyboard,
  Link,
  List,
  ListEnd,
  ListTree,
  LoaderCircle,
  LogOut,
  type LucideIcon,
  MessageSquare,
  MessageSquarePlus,
  Monitor,
  Moon,
  PanelLeft,
  Paperclip,
  Pencil,
  Pin,
  Plus,
  Redo2,
  RefreshCw,
  RotateCcw,
  Search,
  Settings,
  Share2,
  SlidersHorizontal,
  Split,
  Sun,
  Tag,
  ThumbsDown,
  ThumbsUp,
  Timer,
  Trash2,
  TextWrap,
  Undo2,
  Upload,
  Users,
  WifiOff,
  Wrench,
  X,
} from "lucide-react";

const icon = (Shape: LucideIcon) =>
  function Icon({ size = 16 }: { size?: number }) {
    return <Shape size={size} strokeWidth={1.75} aria-hidden="true" focusable="false" />;
  };

export const IconAgent = icon(Bot);
export const IconAlert = icon(CircleAlert);
export const IconArchive = icon(Archive);
export const IconArrowDown = icon(ArrowDown);
export const IconArrowUp = icon(ArrowUp);
export const IconAttach = icon(Paperclip);
export const IconBack = icon(ArrowLeft);
export const IconBranch = icon(GitBranch);
export const IconChat = icon(MessageSquare);
export const IconCheck = icon(Check);
export const IconChevronDown = icon(ChevronDown);
export const IconChevronLeft = icon(ChevronLeft);
export const IconChevronRight = icon(ChevronRight);
export const IconChevronUp = icon(ChevronUp);
export const IconClose = icon(X);
export const IconCode = icon(CodeXml);
export const IconCompare = icon(Columns2);
export const IconCopy = icon(Copy);
export const IconDark = icon(Moon);
export const IconDelete = icon(Trash2);
export const IconDots = icon(Ellipsis);
export const IconEdit = icon(Pencil);
export const IconEphemeral = icon(Timer);
export const IconFanOut = icon(Split);
export const IconFile = icon(FileText);
export const IconFilter = icon(SlidersHorizontal);
export const IconFolder = icon(Folder);
export const IconFork = icon(GitFork);
export const IconHelpful = icon(ThumbsUp);
export const IconHistory = icon(History);
export const IconHome = icon(House);
export const IconKeyboard = icon(Keyboard);
export const IconLight = icon(Sun);
export const IconLink = icon(Link);
export const IconList = icon(List);
export const IconMerge = icon(GitMerge);
export const IconNew = icon(MessageSquarePlus);
export const IconNotHelpful = icon(ThumbsDown);
export const IconOffline = icon(WifiOff);
export const IconPicture = icon(Image);
export const IconPin = icon(Pin);
export const IconPlus = icon(Plus);
export const IconQueue = icon(ListEnd);
export const IconRedo = icon(Redo2);
export const IconRegenerate = icon(RefreshCw);
export const IconRewind = icon(RotateCcw);
export const IconSearch = icon(Search);
export const IconSettings = icon(Settings);
export const IconShare = icon(Share2);
export const IconSidebar = icon(PanelLeft);
export const IconSignOut = icon(LogOut);
export const IconStop = icon(CircleStop);
export const IconSystem = icon(Monitor);
export const IconTag = icon(Tag);
export const IconTool = icon(Wrench);
export const IconTree = icon(ListTree);
export const IconUndo = icon(Undo2);
export const IconUpload = icon(Upload);
export const IconUsers = icon(Users);
export const IconWait = icon(LoaderCircle);
export const IconWrap = icon(TextWrap);
